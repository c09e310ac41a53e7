package ccobject

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

// withoutInt is a file without the type int, so that it is read in one group with the units behind
// it when units are merged: the int that indexes its arrays comes from them.
const withoutInt = `
struct leafN { char name[8]; struct leafN *next; long values[2][3]; enum { AN, BN } kind; };
typedef long (*callN)(struct leafN *leaf, const char *text);
union bothN { struct leafN leaf; callN call; unsigned char bits : 3; };
struct shared { struct shared *next; unsigned long flags; char text[4]; };
__attribute__((section(".data..percpu"), used)) union bothN variableN = { { "x" } };
static __attribute__((noinline)) long partN(struct leafN *leaf, long unused, long k) { return leaf->values[1][k]; }
static inline __attribute__((always_inline)) long inlinedN(struct leafN *leaf, struct shared *s) { return leaf->values[0][0] + (long)s->flags; }
long entryN(struct leafN *leaf, callN call, struct shared *s) { return call(leaf, "x") + partN(leaf, 1, (long)s->flags) + inlinedN(leaf, s); }
long bigN(struct leafN leaf, struct shared s, long a, long b, long c, long d, long e, long f) { return leaf.values[0][1] + (long)s.flags + a + b + c + d + e + f; }
`

// TestMerged: units with records and units with DWARF are merged into one group, in any order.
func TestMerged(t *testing.T) {
	source := testfile.Read(t, "testdata/unit.c")
	for _, cc := range []string{"gcc -g", "gcc -gdwarf-4", "clang -g", "gcc -g -m32"} {
		t.Run(strings.ReplaceAll(cc, " ", ""), func(t *testing.T) {
			dir := t.TempDir()
			var dwarf, records []string
			for i := range 4 {
				text := string(source)
				if i < 3 {
					text = strings.ReplaceAll(withoutInt, "N", fmt.Sprint(i))
				}
				if i == 1 { // its first parameter is elsewhere than in the previous file
					text = "double first1(double d, char c) { return d + c; }\n" + text
				}
				name := fmt.Sprintf("u%d", i)
				testfile.Write(t, filepath.Join(dir, name+".c"), text)
				run(t, dir, append(strings.Fields(cc), "-O2", "-ffreestanding", "-w", "-c", name+".c")...)
				record := mustConvert(t, filepath.Join(dir, name+".o"))
				dwarf, records = append(dwarf, name+".o"), append(records, record)
			}
			for mixture := range 1 << 4 {
				words := []string{"ld", "-r", "-o", fmt.Sprintf("linked%d", mixture)}
				if strings.Contains(cc, "-m32") {
					words = append(words, "-melf_i386")
				}
				for i := range 4 {
					if mixture>>i&1 != 0 {
						words = append(words, records[i])
					} else {
						words = append(words, dwarf[i])
					}
				}
				run(t, dir, words...)
				if mixture != 0 {
					sameBTF(t, fmt.Sprintf("mixture %04b", mixture), filepath.Join(dir, "linked0"), filepath.Join(dir, words[3]))
				}
			}
		})
	}
}
