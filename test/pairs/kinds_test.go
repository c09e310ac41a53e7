package pairs

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/btflite/btflite/test/corpus"
)

// kind is an input file that has been made, or could not be.
type kind struct {
	once sync.Once
	err  error
	dir  string // all files of the kind; nothing changes them
	main string // the name of the file in dir
	elf  elf.FileHeader
	// encoded tells that the file has .BTF already: clang gives it to BPF objects.
	encoded bool
}

// kinds has the kinds that were asked for, by name.
var kinds struct {
	sync.Mutex
	made map[string]*kind
	n    int
}

// kindOf makes the kind with that name, once.
func kindOf(name string) (*kind, error) {
	kinds.Lock()
	if kinds.made == nil {
		kinds.made = map[string]*kind{}
	}
	k := kinds.made[name]
	if k == nil {
		kinds.n++
		k = &kind{dir: filepath.Join(scratch, "kinds", fmt.Sprint(kinds.n))}
		kinds.made[name] = k
	}
	kinds.Unlock()
	k.once.Do(func() {
		if k.err = os.MkdirAll(k.dir, 0o755); k.err == nil {
			k.err = k.make(name)
		}
		if k.err == nil {
			if f, err := elf.Open(filepath.Join(k.dir, k.main)); err == nil {
				k.elf, k.encoded = f.FileHeader, f.Section(".BTF") != nil
				f.Close()
			}
		}
	})
	return k, k.err
}

// make makes the files of the kind.
func (k *kind) make(name string) error {
	if rel, ok := strings.CutPrefix(name, "tree/"); ok {
		return k.take(filepath.Join(root, rel))
	}
	if rel, ok := strings.CutPrefix(name, "corpus/"); ok {
		k.main = path.Base(rel)
		if strings.HasSuffix(rel, ".ko") {
			return k.take(filepath.Join(corpus.Dir(), rel))
		}
		return os.Symlink(filepath.Join(corpus.Dir(), rel), filepath.Join(k.dir, k.main)) // large, and only read
	}
	words := strings.Split(name, "/")
	if len(words) < 4 {
		return errors.New(name + ": want TOOL/FLAGS/SOURCES/FORM")
	}
	if err := k.compile(words[0], words[1], strings.Split(words[2], ","), words[3]); err != nil {
		return err
	}
	for _, post := range words[4:] {
		if err := k.change(post); err != nil {
			return err
		}
	}
	return nil
}

// take copies a file of the repository, and what belongs to it.
func (k *kind) take(file string) error {
	k.main = path.Base(file)
	names := []string{file}
	for _, end := range besides {
		more, _ := filepath.Glob(filepath.Join(filepath.Dir(file), "*"+end))
		names = append(names, more...)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(filepath.Join(k.dir, filepath.Base(name)), data, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// run runs a tool in the folder of the kind.
func (k *kind) run(name string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = k.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %v\n%.300s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// splitFlags are the flags of the word of a kind's name.
func splitFlags(word string) (flags []string) {
	for f := range strings.SplitSeq(word, ",") {
		if f != "" {
			flags = append(flags, f)
		}
	}
	return flags
}

// compile makes the file of a FORM.
func (k *kind) compile(tool, flagWord string, names []string, form string) error {
	for _, name := range append(names, "types.h") {
		data, err := os.ReadFile(filepath.Join(sources, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(k.dir, name), data, 0o644)
		}
		if err != nil {
			return err
		}
	}
	if tool == "rustc" {
		k.main = "x.o"
		return k.run("rustc", "--crate-type=lib", "--edition=2021", "-Cpanic=abort", "-Copt-level=1", "-g", "-Awarnings", "--emit=obj", "-ox.o", names[0])
	}
	compiler, machine, _ := strings.Cut(tool, "@")
	flags := []string{"-g", "-w", "-ffreestanding", "-fno-stack-protector", "-fno-asynchronous-unwind-tables"}
	if machine != "" {
		flags = append(flags, "--target="+machine, "-DNO_ATOMIC", "-DNO_COMPLEX")
	}
	if form == "so" {
		flags = append(flags, "-fPIC")
	}
	flags = append(flags, splitFlags(flagWord)...)
	var objects []string
	for i, name := range names {
		object := fmt.Sprintf("%d.o", i)
		if form == "o" {
			object = "x.o"
		}
		if err := k.run(compiler, append(flags, "-c", name, "-o", object)...); err != nil {
			return err
		}
		objects = append(objects, object)
		if form == "o" {
			break
		}
	}
	k.main = map[string]string{"o": "x.o", "r": "x.ko", "exe": "prog", "so": "x.so"}[form]
	link := append(flags, "-nostdlib", "-o", k.main)
	switch form {
	case "o":
		return nil
	case "r":
		link = append(link, "-r")
	case "exe":
		link = append(link, "-static", "-no-pie", "-Wl,-e,0", "-Wl,-z,muldefs", "-Wl,--build-id=sha1")
	case "so":
		link = append(link, "-shared", "-Wl,-z,muldefs")
	default:
		return errors.New("no form " + form)
	}
	if strings.Contains(flagWord, "-flto") && compiler != "gcc" && compiler != "g++" {
		link = append(link, "-fuse-ld=lld")
	}
	if err := k.run(compiler, append(link, objects...)...); err != nil {
		return err
	}
	for _, o := range objects {
		os.Remove(filepath.Join(k.dir, o))
	}
	return nil
}

// change does what a POST says.
func (k *kind) change(post string) error {
	switch post {
	case "zlib", "zlibgnu", "zstd":
		how := strings.Replace(post, "zlibgnu", "zlib-gnu", 1)
		return k.run("objcopy", "--compress-debug-sections="+how, k.main)
	case "llvmzlib":
		return k.run("llvm-objcopy", "--compress-debug-sections=zlib", k.main)
	case "dwz":
		return k.run("dwz", k.main)
	case "dwzm":
		if err := k.run("cp", k.main, "two"); err != nil {
			return err
		}
		return k.run("dwz", "-m", "x.alt", k.main, "two")
	case "debuglink": // the debug file is beside the file
		if err := k.run("objcopy", "--only-keep-debug", k.main, "x.debug"); err != nil {
			return err
		}
		return k.run("objcopy", "-g", "--add-gnu-debuglink=x.debug", k.main)
	case "onlydebug":
		return k.run("objcopy", "--only-keep-debug", k.main)
	case "strip":
		return k.run("objcopy", "-g", k.main)
	case "encoded": // has .BTF of something else already
		if err := k.run(program, "-J", "--btf_encode_detached=old.btf", filepath.Join(root, "testdata/small/small")); err != nil {
			return err
		}
		defer os.Remove(filepath.Join(k.dir, "old.btf"))
		return k.run("objcopy", "--add-section=.BTF=old.btf", k.main)
	}
	return errors.New("no change " + post)
}

// bases has the BTF that was made of kinds, by what it was made of.
var bases struct {
	sync.Mutex
	made map[string]*baseFile
	n    int
}

type baseFile struct {
	once sync.Once
	path string
	err  error
}

// baseOf is a file with the BTF of the last kind over that of those before it.
func baseOf(names []string) (string, error) {
	key := strings.Join(names, " ")
	bases.Lock()
	if bases.made == nil {
		bases.made = map[string]*baseFile{}
	}
	b := bases.made[key]
	if b == nil {
		bases.n++
		b = &baseFile{path: filepath.Join(scratch, fmt.Sprintf("base%d.btf", bases.n))}
		bases.made[key] = b
	}
	bases.Unlock()
	b.once.Do(func() { b.err = b.make(names) })
	return b.path, b.err
}

func (b *baseFile) make(names []string) error {
	last := len(names) - 1
	k, err := kindOf(names[last])
	if err != nil {
		return err
	}
	args := []string{"-J", "--btf_features=default", "--btf_encode_detached=" + b.path}
	for i := range last {
		below, err := baseOf(names[:i+1])
		if err != nil {
			return err
		}
		args = append(args, "--btf_base="+below)
	}
	if err := k.run(program, append(args, k.main)...); err != nil {
		return err
	}
	_, err = os.Stat(b.path)
	return err
}
