package fullcircle

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/internal/elfabi"
)

// TestCompilerOptions: only options of fixed lists pass from a file's producer to a
// compiler.
func TestCompilerOptions(t *testing.T) {
	for made, want := range map[string]string{
		"GNU C11 999.1 -m64 -mabi=ms;x -march=x86-64 -fplugin=evil.so -funsigned-char -mcmodel=kernel -B/evil -specs=evil": "-m64 -march=x86-64 -funsigned-char -std=gnu11",
		"GNU C17 12.2.0 -std=gnu11 -std=c99 @file -include x -DA -D B":                                                     "-std=c99",
		"GNU C23 16.1.0 -mtune=generic":                      "-std=gnu2x",
		"GNU C11 12 -std=iso9899:2011 -std=gnu17;x -std= -x": "-std=c11",
		"GNU C89 4.9 -std=iso9899:1999":                      "-std=c99",
		"Debian clang version 14.0.6":                        "",
		"clang version 20 -std=gnu23":                        "-std=gnu2x",
		"GNU C++17 12.2.0":                                   "",
		"GNU C11\u00a012 -std=c11\x00x -std=@x":              "",
	} {
		if got := strings.Join(optionsOf(made), " "); got != want {
			t.Errorf("%q: %q, want %q", made, got, want)
		}
	}
	if _, err := findCompiler("GNU C11 12", Machine{94, true, false}, nil); err == nil || !strings.Contains(err.Error(), "machine 94") {
		t.Error(err)
	}
}

// TestNamedCompiler: the standard of the file comes before the options of --cc, and after
// the compiler if another program starts it.
func TestNamedCompiler(t *testing.T) {
	types := btftest.New()
	types.Int("int", 4)
	b := types.Blob(t)
	for cc, want := range map[string]string{
		"gcc":                   "gcc -std=gnu11",
		"gcc -m32 -std=c99":     "gcc -std=gnu11 -m32 -std=c99",
		"ccache gcc-12 -m32":    "ccache gcc-12 -std=gnu11 -m32",
		"/opt/x/my-program -m4": "/opt/x/my-program -std=gnu11 -m4",
	} {
		o := Origin{Machine: Machine{elfabi.EMX8664, true, false}, Producer: "GNU C17 12.2.0 -std=gnu11 -mabi=sysv"}
		c, err := o.Compiler(strings.Fields(cc), b)
		if err != nil || strings.Join(c.Words, " ") != want {
			t.Errorf("%s: %q, %v, want %q", cc, c.Words, err, want)
		}
	}
}

// TestFindCompiler: a compiler of the file's release comes before one that only has the name of
// the machine.
func TestFindCompiler(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"x86_64-linux-gnu-gcc", "gcc-16", "clang", "s390x-linux-gnu-gcc"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	for _, tt := range []struct {
		producer      string
		t             Machine
		want, instead string
	}{
		{"GNU C11 16.1.0 -std=gnu11", Machine{elfabi.EMX8664, true, false}, "gcc-16 -m64 -std=gnu11", ""},
		{"GNU C11 12.2.0", Machine{elfabi.EMX8664, true, false}, "x86_64-linux-gnu-gcc -std=gnu11", "gcc-12"},
		{"GNU C11 12.2.0", Machine{elfabi.EMX8664, false, false}, "x86_64-linux-gnu-gcc -mx32 -std=gnu11", "gcc-12"},
		{"clang version 14.0.6", Machine{elfabi.EMX8664, false, false}, "clang --target=x86_64-linux-gnux32", "clang-14"},
		{"clang version 14.0.6", Machine{elfabi.EMRISCV, false, false}, "clang --target=riscv32-linux-gnu", "clang-14"},
		{"clang version 14.0.6", Machine{elfabi.EMAArch64, true, true}, "clang --target=aarch64_be-linux-gnu", "clang-14"},
		{"GNU C17 12.2.0", Machine{elfabi.EMS390, false, true}, "s390x-linux-gnu-gcc -m31 -std=gnu17", "gcc-12"},
		{"", Machine{elfabi.EMX8664, true, false}, "x86_64-linux-gnu-gcc", ""},
	} {
		c, err := findCompiler(tt.producer, tt.t, optionsOf(tt.producer))
		if err != nil {
			t.Errorf("%s: %v", tt.producer, err)
			continue
		}
		c.Words[0] = filepath.Base(c.Words[0])
		if got := strings.Join(c.Words, " "); got != tt.want || c.Instead != tt.instead {
			t.Errorf("%s %v: %q instead of %q, want %q and %q", tt.producer, tt.t, got, c.Instead, tt.want, tt.instead)
		}
	}
}
