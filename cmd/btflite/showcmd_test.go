package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/corpus"
	"github.com/btflite/btflite/test/testfile"
	"github.com/spf13/pflag"
)

var recordShow = flag.Bool("record-show", false, "write testdata/show.txt and show-places.txt from what the pahole of the corpus prints")

const shownFiles = "../../btf/show/testdata/"

// shownLines are command lines of pahole that TestShow compares.
var shownLines = strings.Split(strings.TrimSpace(`
-C s1 plain.btf
-C s1,u1,en,eb plain.btf
-C s1_t,s1p_t,fn_t,arr_t,en_t,anon_t,fun_t,ten_t,un_t,u8 plain.btf
-C tf,ci_t,ip_t,fpxp,ppt,at,ccp,pa,anp,vfpx,vd,aep,apt,tf2,cip types.btf
-C an,td,fl2 -E plain.btf
-E plain.btf
-E bits.btf
-E types.btf
-E -r plain.btf
-r bits.btf
--hex plain.btf
--hex -E bits.btf
-q plain.btf
-q bits.btf
-q -E types.btf
-s plain.btf
-n plain.btf
-N plain.btf
-T twice.btf
-t , -s twice.btf
-s -H 1 plain.btf
-H 2 plain.btf
-B 1 bits.btf
-z 4 plain.btf
--padding_ge=7 plain.btf
--packed bits.btf
--structs -s plain.btf
--unions plain.btf
-i s1 plain.btf
-i u32 bits.btf
-f fwd plain.btf
-f fpx types.btf
-x q bits.btf
-y q1 bits.btf
-c 32 plain.btf
--flat_arrays plain.btf
--suppress_aligned_attribute plain.btf
--suppress_packed bits.btf
--suppress_force_paddings bits.btf
--with_flexible_array plain.btf
--with_embedded_flexible_array plain.btf
--contains_enumerator=E2 plain.btf
--contains_enumerator=B plain.btf
-D x --contains_enumerator=B plain.btf
--sort plain.btf
-M -C s2 plain.btf
-A -C an plain.btf
-a plain.btf
-a -A -E plain.btf
-a -x s -q plain.btf
-l plain.btf
-l -E types.btf
-l biggest.btf
-l -p -E biggest.btf
-l -a -A -R biggest.btf
noelements.btf
-E noelements.btf
-p -E -q noelements.btf
dimensions.btf
-E --flat_arrays dimensions.btf
-s --with_flexible_array dimensions.btf
-s --with_embedded_flexible_array dimensions.btf
-p toarrays.btf
-p -E toarrays.btf
-E attributes.btf
-a -A -E attributes.btf
-a attributes.btf
-E -q -C a1_t,a3_t attributes.btf
--compile -C a1_t,a2_t,a3_t attributes.btf
-T -s twice.btf
-s -T twice.btf
-D x -C s1 plain.btf
-X nothing plain.btf
--lang=c plain.btf
--lang_exclude=rust -d -S plain.btf
-R -C s1,s2,big plain.btf
-R -S -C s1,s2 plain.btf
-R -E -q -C s2 plain.btf
-R -C u1,en,s1_t,e0 plain.btf
-E -C n20 deep.btf
-E -r --hex -C n18 deep.btf
-E -q -C n19 deep.btf
--sort bysize.btf
--sort bymember.btf
--sort -y e bymember.btf
-R -S -C large moves.btf
-R -S -C again moves.btf
-R -S -C from_end moves.btf
-R -S -C before moves.btf
-R -S -C behind moves.btf
-p plain.btf
-p -E plain.btf
-p pointers.btf
-p -E pointers.btf
-p -q -r pointers.btf
-p --hex -C b_t,cc_t,cp,carr,z1 pointers.btf
-E consts.btf
-p consts.btf
-p -E consts.btf
--compile plain.btf
--compile -q types.btf
--compile twice.btf
--compile -E bits.btf
--compile needs.btf
--compile samename.btf
--compile --hex -q consts.btf
--compile -q -C w,x,a_t,fn_t,k2,s21,s22,s23,fpx needs.btf
--compile -C td,s1_t,en_t,anon_t,s1,en plain.btf
--header_type fhdr --prettify records.raw records.btf
--header_type fhdr --range data --prettify records.raw -C hdr records.btf
--header_type fhdr --range data --prettify records.raw -C hdr(sizeof,type) records.btf
--header_type fhdr --range data --prettify records.raw -C hdr(sizeof,type,type_enum=ev_type) records.btf
--header_type fhdr --range data --prettify records.raw -C hdr(sizeof,type,type_enum=ev_type+ev_user) --hex records.btf
--header_type fhdr --range other --prettify records.raw -C hdr(sizeof=size) records.btf
--header_type fhdr --seek_bytes $header.data.offset --size_bytes $header.data.size --prettify records.raw -C hdr(sizeof,type,type_enum=ev_type,filter=type==FOO) records.btf
--seek_bytes 64 --prettify records.raw -C hdr(sizeof,type,type_enum=ev_type+ev_user,type==EV_USER_X) --count 1 records.btf
--seek_bytes 0x40 --prettify records.raw -C hdr(sizeof,type,filter=type==4) records.btf
--skip 1 --count 2 --prettify records.raw -C values records.btf
--hex --prettify records.raw -C values records.btf
--prettify records.raw -C ev_type --seek_bytes 8 --size_bytes 15 records.btf
--prettify records.raw -C unnamed records.btf
--prettify records.raw -C u32 records.btf
odd.btf
-C direct,part,part2 odd.btf
-C array,inside,below,part2 odd.btf
-C part odd.btf
-C after,teardown,rate,reason odd.btf
-E packed.btf
-E -C f1,f2,f3,m packed.btf
-E -q -C f1,f3,m packed.btf
-q -C f1,m packed.btf
-C f1,m packed.btf
--compile packed.btf
--compile -E packed.btf
--compile -E needs.btf
--compile -E pointers.btf
--compile -a -A types.btf
--compile -a -A bits.btf
-C fu_t,fs_t,cfu_t,fu2_t forward.btf
-E -C fu_t,fs_t,fup_t,cfu_t,fuu_t forward.btf
-E -q -C fu_t,fs_t forward.btf
--compile forward.btf
--compile -E -C fu_t,fs_t,fup_t forward.btf
-E flexible.btf
-s --with_embedded_flexible_array flexible.btf
-i core -V within.btf
-i core -a -A within.btf
-i core --unions -d -V within.btf
-i in1,noc,kind -d within.btf
-C core -i in1 within.btf
-i core -C kind within.btf
-i core -f noc within.btf
-f core -C in1 within.btf
-C core,mid -f in1 within.btf
-V -z 4 plain.btf
-z 4 -V plain.btf
-V -s -z 4 plain.btf
-m -N plain.btf
`), "\n")

// shownText is pahole's output for command lines, in a file of testdata.
type shownText struct {
	file    string
	formats string   // -F
	folder  string   // of the files that the lines end with
	lines   []string // without "pahole"
}

// shownTexts are recorded by -record-show.
var shownTexts = []shownText{
	{"show.txt", "btf", shownFiles, shownLines},
	{"show-places.txt", "dwarf", "../../encode/testdata/golden/", shownPlaces},
}

// shownPlaces are command lines for files with DWARF only, which says where types are
// declared: of several compilers, versions, byte orders and machines, linked and not.
var shownPlaces = strings.Split(strings.TrimSpace(`
-I arm64-gcc4-r.elf
-I ppc64-gcc4-r.elf
-I s390x-gcc5-r.elf
-I x86-clang4-o.elf
-I x86-tags.elf
-I -q x86-clang5-o.elf
-I -q -C u64,list_head,level x86-gcc5.elf
-I -q -C node,flag_t x86-gcc4.elf
-I -q -C node,callback_t,tiny,unseen s390x-gcc2.elf
-I -q -C u64,list_head,level x86-gcc5-zlib.elf
-I -q -C u64,list_head,level i386-gcc4-zgnu.elf
-I -q -C u64,list_head,level x86-clang5.elf
-I -q --lang=c11 -C u64,list_head x86-gcc5.elf
-I -q -X types -C u64,list_head x86-clang5.elf
-I -a -A -q riscv64-gcc5-r.elf
-I -a -q x86-clang5-o.elf
-u -C hidden x86-gcc5.elf
-u -C u64 x86-clang4.elf
-u -C own sparc-gcc5-r.elf
-u -C level x86-gcc5.elf
-u -i hidden x86-gcc5.elf
-u -C level -f own sparc-gcc5-r.elf
-D ./shared -s x86-gcc5.elf
-D ./funcs.c -s x86-gcc5.elf
-D . s390x-gcc5-r.elf
-D nowhere -s -a arm64-gcc4-r.elf
-D ./more -n x86-clang4-o.elf
-D ./types -s ppc64-gcc4-r.elf
-D . -C u64 -q x86-gcc5.elf
`), "\n")

// TestShow: each option prints the same as pahole 1.32.
func TestShow(t *testing.T) {
	for _, x := range shownTexts {
		if *recordShow {
			x.record(t)
		}
		x.compare(t)
	}
}

// asPahole runs the command line under the name pahole, without environment variables.
func asPahole(args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	c := newCLI(&out, &errs, func(string) (string, bool) { return "", false })
	c.calledAs = paholeName
	status = c.run(args)
	return status, out.String(), errs.String()
}

func (x *shownText) compare(t *testing.T) {
	t.Helper()
	sections := strings.Split(string(testfile.Read(t, "testdata/"+x.file)), "\n== ")
	if len(sections) != len(x.lines)+1 {
		t.Fatalf("%s: %d sections for %d command lines", x.file, len(sections)-1, len(x.lines))
	}
	for i, line := range x.lines {
		want := strings.TrimPrefix(sections[i+1], line+"\n")
		args := strings.Fields(line)
		args[len(args)-1] = x.folder + args[len(args)-1]
		if i := slices.Index(args, "--prettify"); i >= 0 {
			args[i+1] = x.folder + args[i+1]
		}
		status, got, stderr := asPahole(append([]string{"-F", x.formats}, args...)...)
		if status != exitOK || stderr != "" {
			t.Errorf("%s: status %d, %s", line, status, stderr)
		}
		got = strings.TrimSuffix(got, "\n")
		if i == len(x.lines)-1 {
			want = strings.TrimSuffix(want, "\n")
		}
		if got != want {
			t.Errorf("%s: got\n%s, want\n%s", line, got, want)
		}
	}
}

// record writes what pahole prints.
func (x *shownText) record(t *testing.T) {
	t.Helper()
	text := "What pahole 1.32 prints for these command lines."
	for _, line := range x.lines {
		cmd := exec.Command(corpus.Program(paholeName), append([]string{"-F", x.formats}, strings.Fields(line)...)...)
		cmd.Dir = x.folder
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		text += "\n== " + line + "\n" + strings.TrimSuffix(string(out), "\n")
	}
	testfile.Write(t, "testdata/"+x.file, text+"\n")
}

// TestShowPlaces: places that pahole does not print, and a file that has BTF as well.
func TestShowPlaces(t *testing.T) {
	const folder = "../../encode/testdata/golden/"
	both := testfile.New(t, "both", testfile.Read(t, folder+"x86-gcc5.elf"))
	var errs bytes.Buffer
	if status := newCLI(&errs, &errs, func(string) (string, bool) { return "", false }).run([]string{"-J", both}); status != exitOK {
		t.Fatal(&errs)
	}
	for line, want := range map[string]string{
		"-I -q -C node " + folder + "x86-gcc5-lto.elf":          "/* Used at: types.c */\n/* <48c> ./shared.h:18 */\nstruct node {", // pahole: no unit
		"-u -C list_head,own,level " + folder + "x86-gcc5.elf":  "types.c\nother.c\ntypes.c\n",
		"-I -q -C list_head " + folder + "x86-gcc5.default.btf": "/* Used at: " + folder + "x86-gcc5.default.btf */\n/* <0> (null):0 */\nstruct list_head {",
		"-I -q -R -C list_head " + folder + "x86-gcc5.elf":      "/* Used at: types.c */\n/* <",
		"-u -C own " + both:                                          "other.c\n",
		"-u -F dwarf -C own " + both:                                 "other.c\n",
		"-u -F btf,dwarf -C own " + both:                             both + "\n",
		"-I -q -C cu_only " + folder + "x86-gcc5.default.btf":        "no type cu_only",
		"-I -q -C hid[ " + folder + "x86-gcc5.elf":                   "is not a valid pattern",
		"--lang=nonsense -I -q -C hidden " + folder + "x86-gcc5.elf": "unknown language",
	} {
		var out bytes.Buffer
		newCLI(&out, &out, func(string) (string, bool) { return "", false }).run(append([]string{"show"}, strings.Fields(line)...))
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s: got\n%s, want\n%s", line, &out, want)
		}
	}
}

// TestShowMissing: a missing type is an error wherever it is named, after the output for
// the names before it.
func TestShowMissing(t *testing.T) {
	file := shownFiles + "plain.btf"
	for line, want := range map[string]string{
		"show nosuch " + file:                       "no type nosuch",
		"show -i nosuch " + file:                    "no type nosuch",
		"show -i s1,nosuch " + file:                 "no type nosuch",
		"show -f nosuch " + file:                    "no type nosuch",
		"show -f struct " + file:                    "no type struct",
		"show --contains_enumerator=NOSUCH " + file: "no enumerator NOSUCH",
	} {
		if _, errs := btfliteRun(t, exitFailure, strings.Fields(line)...); errs != "btflite: "+file+": "+want+"\n" {
			t.Errorf("%s: %q, want %q", line, errs, want)
		}
	}
	for _, option := range []string{"-i", "-f"} {
		want, _ := btfliteRun(t, exitOK, "show", option, "s1", file)
		got, errs := btfliteRun(t, exitOK, "show", option, "nosuch,s1,s1", "--skip_missing", file)
		if got != want || errs != "btflite: note: no type nosuch\n" {
			t.Errorf("%s: %q, %q, want %q", option, got, errs, want)
		}
	}
}

// TestShowOfNames: -i and -f have their names with them, and lists of all types have none.
func TestShowOfNames(t *testing.T) {
	file := shownFiles + "within.btf"
	for line, want := range map[string]string{
		"show -i core mid " + file:   "'mid' is one name too many: -i and -f already name the types",
		"show -f core mid " + file:   "'mid' is one name too many: -i and -f already name the types",
		"show -T mid " + file:        "-T and -m list all types; leave out -C, -i, -f and names",
		"show -m -C mid " + file:     "-T and -m list all types; leave out -C, -i, -f and names",
		"show -i core -s -T " + file: "-T and -m list all types; leave out -C, -i, -f and names",
	} {
		if out, errs := btfliteRun(t, exitUsage, strings.Fields(line)...); out != "" || !strings.HasPrefix(errs, "btflite: "+want+"\n") {
			t.Errorf("%s: %q, %q, want %q", line, out, errs, want)
		}
	}
	out, _ := btfliteRun(t, exitOK, "show", "-i", "mid", "-d", "-V", file)
	if want := "deepest: 1\n  (anonymous): 1\ntdef: 1\nouter: 1\n"; out != want {
		t.Errorf("%q, want %q", out, want)
	}
}

// TestShowPictures: pages have the selected types, an SVG file has one struct, and a type
// without a layout is an error.
func TestShowPictures(t *testing.T) {
	const file = "../../testdata/small/small.btf"
	run := func(status int, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		got := newCLI(&out, &errs, func(string) (string, bool) { return "", false }).run(append([]string{"show"}, args...))
		if got != status || (status == 0) != (errs.Len() == 0) {
			t.Errorf("%q: status %d, %s", args, got, errs.String())
		}
		return out.String() + errs.String()
	}
	all := run(0, "--format=html", file)
	if !strings.Contains(all, "<!doctype html>") || strings.Contains(all, `"list":[]`) {
		t.Error("the page of a file has no structs")
	}
	names := strings.Fields(run(0, "--sizes", file))
	name := names[0]
	if page := run(0, "--format=html", name, file); !strings.Contains(page, `"`+name+`"`) || len(page) >= len(all) {
		t.Errorf("the page of %s has %d bytes, that of the file %d", name, len(page), len(all))
	}
	if svg := run(0, "--format=svg", name, file); !strings.HasPrefix(svg, "<svg ") || !strings.Contains(svg, name) {
		t.Errorf("%s", svg)
	}
	for _, x := range []struct {
		args   string
		status int
		want   string
	}{
		{"--format=svg", exitUsage, "draws one struct or union"},
		{"--format=html int", exitFailure, "no type int"},
		{"--format=html u16", exitFailure, file + ": u16: only structs and unions have a layout, and it is a TYPEDEF"},
		{"--format=html --sizes", exitUsage, "leave out the options for lists"},
		{"--format=html no_such_struct", exitFailure, "no type no_such_struct"},
		{"--format=pdf", exitUsage, "use text or html or svg"},
	} {
		if got := run(x.status, append(strings.Fields(x.args), file)...); !strings.Contains(got, x.want) {
			t.Errorf("%s: %s", x.args, got)
		}
	}
}

// TestDrawnOptions: with a drawing, each option of show changes what is drawn, has no effect on text either, or is refused.
func TestDrawnOptions(t *testing.T) {
	const drawn = `btf_base class_name structs unions holes bit_holes padding_ge packed with_flexible_array with_embedded_flexible_array prefix_filter exclude
		anon_include nested_anon_include word_size decl_exclude skip_missing format_path cacheline_size lang lang_exclude cu_exclude with_base
		header_type range seek_bytes size_bytes skip count color format` // those of raw data need --prettify
	without := strings.Fields(drawn + " kabi_prefix")
	for _, name := range strings.Fields(noEffectShown) {
		name, _, _ = strings.Cut(name, ",")
		without = append(without, name)
	}
	c, _, _ := testCLI(t)
	newShowCommand(c).Flags().VisitAll(func(f *pflag.Flag) {
		line := []string{"show", "--format=svg", "--" + f.Name, "thing", splitFiles + "x86.base.btf"}
		switch {
		case slices.Contains(without, f.Name) || f.Hidden:
			return
		case f.NoOptDefVal == "":
			line[2] += "=1"
		}
		if _, stderr := btfliteRun(t, exitUsage, line...); !strings.Contains(stderr, "leave") && !strings.Contains(stderr, "already name the types") {
			t.Errorf("%s: %s", f.Name, stderr)
		}
	})
}

// TestShowFormats: of a file with split BTF and DWARF, -F says which of both counts.
func TestShowFormats(t *testing.T) {
	file := testfile.New(t, "both.o", testfile.Read(t, splitDir+"x86.module.o"))
	run := func(line string) string {
		var out, errs bytes.Buffer
		if status := newCLI(&out, &errs, os.LookupEnv).run(strings.Fields(line)); status != exitOK {
			return "status " + strings.TrimSpace(errs.String())
		}
		return out.String()
	}
	dwarf := run("show -s " + file)
	if encoded := run("-J --btf_base=" + splitDir + "x86.base.btf " + file); encoded != "" {
		t.Fatal(encoded)
	}
	split := run("show -s --btf_base=" + splitDir + "x86.base.btf " + file)
	if dwarf == split || len(split) == 0 {
		t.Fatalf("DWARF %q, BTF %q", dwarf, split)
	}
	base := splitDir + "x86.base-btf.o" // has BTF only
	for line, want := range map[string]string{
		"show -s -F dwarf " + file:                         dwarf,
		"show -s -F dwarf,btf " + file:                     dwarf,
		"show -s -F btf,dwarf " + file:                     dwarf, // the base is not found
		"show -s " + file:                                  dwarf,
		"show -s -F btf " + file:                           "give --btf_base=VMLINUX",
		"dump " + file:                                     "give --btf_base=VMLINUX",
		"show -s --btf_base=" + base + " " + file:          split,
		"show -s -F dwarf,btf " + base:                     run("show -s " + base),
		"show -s -F dwarf " + base:                         "x86.base-btf.o: no DWARF to encode",
		"show -s -F dwarf " + base + ".gz":                 "x86.base-btf.o.gz: no DWARF to encode",
		"show -s -F dwarf " + splitDir + "x86.base.btf":    "x86.base.btf: no ELF file, so it has no DWARF",
		"show -s -F dwarf " + splitDir + "x86.base.btf.gz": "x86.base.btf.gz: no ELF file, so it has no DWARF",
	} {
		if got := run(line); got != want && !strings.HasSuffix(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
