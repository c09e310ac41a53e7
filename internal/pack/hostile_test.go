package pack

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	at "github.com/btflite/btflite/internal/archive/archivetest"
)

// small are limits that tests reach soon.
var small = Limits{Entries: 100, Name: 100, File: 1 << 20, Total: 100 << 20, Ratio: 100, RatioFrom: 1 << 20}

// patched returns data with bytes replaced at an offset.
func patched(data []byte, at int, with string) []byte {
	data = bytes.Clone(data)
	copy(data[at:], with)
	return data
}

// hostile are packages that must end with an error, and a part of it.
func hostile() map[string]struct {
	data []byte
	want string
} {
	type row = struct {
		data []byte
		want string
	}
	file := func(name string) []byte { return at.Deb("", at.Entry{Name: name, Data: []byte("x")}) }
	many := make([]at.Entry, 101)
	for i := range many {
		many[i] = at.Entry{Name: "./d", Type: '5'}
	}
	all := map[string]row{
		"nothing":                   {nil, "empty"},
		"one byte":                  {[]byte("!"), "neither a package nor a tar archive"},
		"ones":                      {bytes.Repeat([]byte{1}, 2048), "neither a package"},
		"up":                        {file("../x"), `entry 5 is called "../x"`},
		"up inside":                 {file("./a/../../x"), "leads out"},
		"absolute":                  {file("/etc/passwd"), "leads out"},
		"two slashes":               {file("//x"), "leads out"},
		"only up":                   {file(".."), "leads out"},
		"itself":                    {file("."), "leads out"},
		"long name":                 {file(strings.Repeat("a", 101)), "the name of entry"},
		"very long name":            {file(strings.Repeat("a/", 40_000) + "a"), "the name of entry"},
		"many entries":              {at.Deb("", many...), "more than 100 entries"},
		"many compressed entries":   {at.Deb("xz", many...), "more than 100 entries"},
		"large file":                {at.Deb("", at.Entry{Name: "x", Data: make([]byte, 1<<20+1)}), "more than 1.0 MiB"},
		"ar without data":           {at.Ar(at.Member{Name: "debian-binary", Data: []byte("2.0\n")}), "no Debian package"},
		"ar alone":                  {[]byte("!<arch>\n"), "no Debian package"},
		"ar end mark":               {patched(file("x"), 8+58, "xx"), "no end mark"},
		"ar size":                   {patched(file("x"), 8+48, "12x       "), "is no number"},
		"ar negative size":          {patched(file("x"), 8+48, "-4        "), "is no number"},
		"ar huge size":              {patched(file("x"), 8+48, "9999999999"), "cut short"},
		"ar member 0":               {patched(file("x"), 8+48, "0         "), "no end mark"},
		"data is no tar":            {at.Ar(at.Member{Name: "data.tar", Data: bytes.Repeat([]byte("x"), 1024)}), "neither a package nor a tar archive"},
		"control is no tar":         {at.Ar(at.Member{Name: "control.tar", Data: bytes.Repeat([]byte("x"), 1024)}, at.Member{Name: "data.tar"}), "neither a package"},
		"empty data":                {at.Ar(at.Member{Name: "data.tar.xz"}), "data.tar.xz is empty"},
		"a tar in a deb in a tar":   {at.Tar(at.Entry{Name: "x/../../y", Data: file("x")}), "leads out"},
		"tar checksum":              {patched(at.Tar(entries...), 512+10, "z"), "damaged"},
		"tar size beyond the end":   {tarOfSize("77777777777"), "more than 1.0 MiB"},
		"tar size a bit beyond":     {tarOfSize("00000010000"), "cut short"},
		"tar negative size":         {tarOfSize("\x80\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), ""},
		"sparse":                    {at.Tar(at.Entry{Name: "x", Type: 'S'}), ""},
		"xz of xz of nothing known": {at.Compress("xz", at.Compress("xz", []byte("x"))), "neither a package"},
	}
	for _, format := range at.Compressions[1:] {
		whole := at.Deb(format, entries...)
		all["cut in data "+format] = row{whole[:len(whole)-len(whole)/3], "cut short"}
		all["cut at the end "+format] = row{whole[:len(whole)/2], ""}
		all["damaged data "+format] = row{patched(whole, len(whole)*2/3, "\xff\x00\xff\x00\xff\x00\xff\x00"), "data.tar." + format}
		all["zeros in data "+format] = row{patched(whole, len(whole)/2, strings.Repeat("\x00", 512)), ""}
		all["only the magic "+format] = row{at.Compress(format, nil)[:6], ""}
		all["bomb "+format] = row{at.Compress(format, bomb()), "times as much"}
		all["bomb in a deb "+format] = row{at.Ar(at.Member{Name: "data.tar." + format, Data: at.Compress(format, bomb())}), "times as much"}
		all["bomb as control "+format] = row{at.Ar(at.Member{Name: "control.tar." + format, Data: at.Compress(format, bomb())}), "times as much"}
	}
	return all
}

// bomb returns a tar archive of few entries that compresses well, with more bytes than the ratio needs.
func bomb() []byte {
	var list []at.Entry
	for range 3 {
		list = append(list, at.Entry{Name: "zeros", Data: make([]byte, 1<<20)})
	}
	return at.Tar(list...)
}

// tarOfSize returns a tar archive whose only file says that it has another size.
func tarOfSize(octal string) []byte {
	b := at.Tar(at.Entry{Name: "x", Data: []byte("y")})
	copy(b[124:136], octal+"\x00")
	copy(b[148:156], "        ")
	sum := 0
	for _, c := range b[:512] {
		sum += int(c)
	}
	copy(b[148:156], []byte{'0' + byte(sum>>15&7), '0' + byte(sum>>12&7), '0' + byte(sum>>9&7), '0' + byte(sum>>6&7), '0' + byte(sum>>3&7), '0' + byte(sum&7), 0, ' '})
	return b
}

// TestHostile: whatever a package says, reading it ends with one error, from a file and from a
// stream.
func TestHostile(t *testing.T) {
	for name, row := range hostile() {
		path := write(t, "in", row.data)
		p, err := Open(path, small)
		if err != nil {
			t.Fatal(err)
		}
		_, err = list(p)
		p.Close()
		_, streamed := list(Stream(path, bytes.NewReader(row.data), small))
		for _, err := range []error{err, streamed} {
			var damage *Damage
			if err == nil || !strings.Contains(err.Error(), row.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: error %v", name, err)
			} else if errors.As(err, &damage) && !strings.HasPrefix(err.Error(), path+": ") {
				t.Errorf("%s: %v does not name the file", name, err)
			}
		}
	}
}

// TestCutAnywhere: a package that is cut short anywhere is an error, or complete.
func TestCutAnywhere(t *testing.T) {
	for name, data := range formats() {
		for n := 0; n < len(data); n += max(1, len(data)/40) {
			got, err := list(Stream("in", bytes.NewReader(data[:n]), UsualLimits))
			if err == nil && got != wanted && !strings.HasPrefix(name, "x.tar") {
				t.Errorf("%s cut at %d of %d: %q", name, n, len(data), got)
			}
		}
	}
}

// FuzzEach reads anything as a package.
func FuzzEach(f *testing.F) {
	for _, data := range formats() {
		f.Add(data)
	}
	for _, row := range hostile() {
		if len(row.data) < 1<<16 {
			f.Add(row.data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		files := 0
		err := Stream("in", bytes.NewReader(data), small).Each(func(f *File) error {
			files++
			if strings.HasPrefix(f.Name, "/") || strings.Contains("/"+f.Name+"/", "/../") || f.Size < 0 {
				t.Errorf("file %q of %d bytes", f.Name, f.Size)
			}
			return nil
		})
		if err != nil && strings.Contains(err.Error(), "\n") || files > 100 {
			t.Errorf("%d files, error %v", files, err)
		}
	})
}
