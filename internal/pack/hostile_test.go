package pack

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode"

	at "github.com/btflite/btflite/internal/archive/archivetest"
	"github.com/btflite/btflite/test/testfile"
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
		"ar size":                   {patched(file("x"), 8+48, "12x       "), "is not a number"},
		"ar negative size":          {patched(file("x"), 8+48, "-4        "), "is not a number"},
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
	rpm := at.RPM(at.Cpio(entries...))
	cpio := bytes.Index(rpm, []byte("070701"))
	inCpio := func(name string) []byte { return at.RPM(at.Cpio(at.Entry{Name: name, Data: []byte("x")})) }
	for name, r := range map[string]row{
		"rpm alone":                  {rpm[:96], "the header of signatures: it is cut short"},
		"rpm lead":                   {rpm[:50], "the lead is cut short"},
		"rpm without a header":       {rpm[:120], "the header of signatures"},
		"rpm signature magic":        {patched(rpm, 96, "xxxx"), "the header of signatures: it does not begin as one"},
		"rpm many tags":              {patched(rpm, 96+8, "\xff\xff\xff\xff"), "4294967295 tags"},
		"rpm much data":              {patched(rpm, 96+12, "\xff\xff\xff\xff"), "cannot be"},
		"rpm data beyond the end":    {patched(rpm, 96+12, "\x0f\xff\xff\xff"), "its data is cut short"},
		"rpm header magic":           {patched(rpm, bytes.LastIndex(rpm, []byte("\x8e\xad\xe8")), "x"), "the header: it does not begin as one"},
		"rpm tag outside":            {patched(rpm, bytes.LastIndex(rpm, []byte("\x8e\xad\xe8"))+16+8, "\x7f"), "tag 1000 is at byte"},
		"rpm of a delta":             {bytes.Replace(rpm, []byte("cpio\x00"), []byte("drpm\x00"), 1), `its payload is "drpm"`},
		"rpm of lzma":                {at.RPM([]byte("\x5d\x00\x00\x80\x00")), "payload, lzma: it is cut short"},
		"lzma with a large window":   {at.RPM([]byte("\x5d\x00\x00\x00\x7f\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00")), "payload, lzma: "},
		"rpm without a payload":      {at.RPM(nil), "payload is empty"},
		"rpm of tar":                 {at.RPM(at.Tar(entries...)), "not a cpio archive"},
		"rpm long tag":               {at.RPMOf(map[uint32]string{1011: strings.Repeat("x", 2000)}, nil), "tag 1011 has more than 1024 bytes"},
		"cpio of 4 GiB":              {at.RPM([]byte("07070X00000001")), "only rpm reads"},
		"cpio without an end":        {rpm[:len(rpm)-124], "the archive is cut short"},
		"cpio cut in a header":       {rpm[:cpio+50], "the archive is cut short"},
		"cpio cut in a name":         {rpm[:cpio+112], "the name of entry 1"},
		"cpio number":                {patched(rpm, cpio+6+8, "zzzzzzzz"), "number 2 in the header after entry 0"},
		"cpio negative number":       {patched(rpm, cpio+6+8, "-0000001"), "number 2"},
		"cpio no name":               {patched(rpm, cpio+6+8*11, "00000000"), "the name of entry 1 has 0 bytes"},
		"cpio long name":             {patched(rpm, cpio+6+8*11, "00ffffff"), "the name of entry 1 has 16777215 bytes"},
		"cpio name without an end":   {patched(rpm, cpio+6+8*11, "00000002"), "has no end"},
		"cpio huge file":             {patched(inCpio("x"), bytes.Index(inCpio("x"), []byte("070701"))+6+8*6, "ffffffff"), "more than 1.0 MiB"},
		"cpio file beyond the end":   {patched(inCpio("x"), bytes.Index(inCpio("x"), []byte("070701"))+6+8*6, "0000ffff"), "cut short"},
		"cpio second header":         {patched(rpm, cpio+bytes.Index(rpm[cpio+6:], []byte("070701"))+6, "x"), "the header after entry 1 is damaged"},
		"cpio up":                    {inCpio("../x"), "leads out"},
		"cpio absolute":              {inCpio("/etc/passwd"), "leads out"},
		"cpio name with a zero byte": {inCpio("a\x00b"), "leads out"},
		"cpio empty name":            {inCpio(""), "leads out"},
		"cpio many entries":          {at.RPM(at.Cpio(many...)), "more than 100 entries"},
	} {
		all[name] = r
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
		all["bomb in an rpm "+format] = row{at.RPM(at.Compress(format, at.Cpio(at.Entry{Name: "x", Data: make([]byte, 1<<20)}, at.Entry{Name: "y", Data: make([]byte, 1<<20)}))), "times as much"}
		all["rpm damaged "+format] = row{patched(at.RPM(at.Compress(format, at.Cpio(entries...))), cpio+2000, "\xff\x00\xff\x00\xff\x00\xff\x00"), "payload, "}
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
		path := testfile.New(t, "in", row.data)
		p, err := Open(path, small)
		if err != nil {
			t.Fatal(err)
		}
		_, err = list(p)
		p.Close()
		p, _ = Open(path, small)
		p.Jobs, p.Temp = 2, temp(t)
		if _, err := p.Last(func(string, int64, []byte) bool { return true }, func(*File) error { return nil }); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: from the end: %v", name, err)
		}
		_, parallel := list(p)
		p.Close()
		_, streamed := list(Stream(path, bytes.NewReader(row.data), small))
		for _, err := range []error{err, parallel, streamed} {
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
	f.Add(at.Ar(at.Member{Name: "data.tar.\n"}))
	f.Add(at.Ar(at.Member{Name: "control.tar.\n"}, at.Member{Name: "data.tar", Data: []byte("x")}))
	f.Add(at.SummedDeb("gz", entries...))
	f.Add(at.SummedRPM("bare zst", entries...))
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

// TestControlCharacters: whatever byte of a package is a control character, what is said of it has none.
func TestControlCharacters(t *testing.T) {
	seeds := [][]byte{at.SummedDeb("", at.Entry{Name: "./a", Data: []byte("x")}), at.SummedRPM("", at.Entry{Name: "./a", Data: []byte("x")}),
		at.Ar(at.Member{Name: "control.tar.x"}), at.Ar(at.Member{Name: "data.tar.x"}), at.Ar(at.Member{Name: "x"}), at.RPMOf(map[uint32]string{1124: "drpm"}, nil)}
	for _, row := range hostile() {
		if len(row.data) < 1000 {
			seeds = append(seeds, row.data)
		}
	}
	limits := small
	limits.Total = 1 << 16
	errs := 0
	for _, seed := range seeds {
		for i := 0; i < min(len(seed), 200); i++ {
			data := bytes.Clone(seed)
			data[i] = "\n\x1b"[i%2]
			err := Stream("in", bytes.NewReader(data), limits).Each(func(f *File) error {
				_, err := io.Copy(io.Discard, f)
				return err
			})
			if err == nil {
				continue
			}
			if errs++; strings.ContainsFunc(err.Error(), unicode.IsControl) {
				t.Errorf("byte %d of %.40q: %q", i, seed, err)
				break
			}
		}
	}
	if errs < 1000 {
		t.Errorf("only %d errors", errs)
	}
}

// TestManyCases: the issue asks for 80.
func TestManyCases(t *testing.T) {
	if n := len(hostile()); n < 80 {
		t.Errorf("%d hostile packages", n)
	}
}

// FuzzRPMHeader reads anything as the header of an rpm.
func FuzzRPMHeader(f *testing.F) {
	f.Add(at.RPM(nil)[96:])
	f.Add(at.SummedRPM("", entries...)[96+32:])
	f.Fuzz(func(t *testing.T, data []byte) {
		tags, size, err := rpmHeader(bufio.NewReader(bytes.NewReader(data)), []uint32{tagName, tagVersion, tagArch, tagBaseNames, tagDirNames, tagDirIndexes, tagFileDigests})
		if err != nil {
			return
		}
		if size > int64(len(data)) || len(tags.texts) > 3 {
			t.Errorf("%d bytes of %d, %v", size, len(data), tags)
		}
		new(sums).setDigests(tags.digestAlgorithm(), tags.files(), tags.lists[tagFileDigests])
	})
}

// FuzzCpio reads anything as a cpio archive.
func FuzzCpio(f *testing.F) {
	f.Add(at.Cpio(entries...))
	f.Fuzz(func(t *testing.T, data []byte) {
		w := walk{meter: &meter{limits: small}, visit: func(f *File) error {
			if f.Size > int64(len(data)) {
				if _, err := io.Copy(io.Discard, f); err == nil {
					t.Errorf("%d bytes of %d", f.Size, len(data))
				}
			}
			return nil
		}}
		_ = w.cpio(bytes.NewReader(data))
	})
}

// FuzzAr reads anything as the header of a member of ar.
func FuzzAr(f *testing.F) {
	f.Add(at.Ar(at.Member{Name: "data.tar", Data: []byte("x")})[8:])
	f.Fuzz(func(t *testing.T, data []byte) {
		if name, size, err := arMember(bytes.NewReader(data)); err == nil && (size < 0 || len(name) > 16) {
			t.Errorf("%q, %d", name, size)
		}
	})
}
