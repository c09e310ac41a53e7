// Command profile makes cmd/btflite/default.pgo anew, by which the compiler
// decides what to inline: it encodes and checks the kernels of the corpus in one
// process under the CPU profiler.
//
//	make profile
//	go run -pgo=off ./bench/profile [-o=FILE] [-n=ROUNDS] [KERNEL...]
//
// The profile goes by function names. After a hot function has been renamed, the
// old name in it has no effect until the profile is made again.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime/pprof"

	"github.com/google/pprof/profile"

	"github.com/btflite/btflite/btf/verify"
	"github.com/btflite/btflite/encode"
)

func main() {
	out := flag.String("o", "cmd/btflite/default.pgo", "`file` to write")
	n := flag.Int("n", 5, "`rounds` over all kernels")
	flag.Parse()
	if err := run(*out, *n, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "profile:", err)
		os.Exit(1)
	}
}

func run(out string, rounds int, kernels []string) error {
	if len(kernels) == 0 {
		var err error
		if kernels, err = corpus(); err != nil {
			return err
		}
	}
	var raw bytes.Buffer
	if err := pprof.StartCPUProfile(&raw); err != nil {
		return err
	}
	for range rounds {
		for jobs := 1; jobs <= 2; jobs++ {
			for _, kernel := range kernels {
				if err := encodeOne(kernel, jobs); err != nil {
					pprof.StopCPUProfile()
					return fmt.Errorf("%s: %w", kernel, err)
				}
			}
		}
	}
	pprof.StopCPUProfile()
	p, err := profile.Parse(&raw)
	if err != nil {
		return err
	}
	anonymize(p)
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		return err
	}
	fmt.Printf("%s: %d samples, %d bytes\n", out, len(p.Sample), b.Len())
	return os.WriteFile(out, b.Bytes(), 0o644)
}

// corpus is the kernels that scripts/kernels.sh has fetched.
func corpus() ([]string, error) {
	dir := os.Getenv("BTFLITE_CORPUS")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, err
		}
		dir = filepath.Join(cache, "btflite-corpus")
	}
	kernels, err := filepath.Glob(filepath.Join(dir, "v*-*"))
	if err == nil && len(kernels) == 0 {
		err = fmt.Errorf("no kernels in %s; get some with: scripts/kernels.sh v72-amd64", dir)
	}
	return kernels, err
}

// encodeOne does to a kernel what the command does, but writes nothing.
func encodeOne(kernel string, jobs int) error {
	out, err := encode.Run([]string{kernel}, encode.Options{Features: encode.DefaultFeatures, Jobs: jobs})
	if err != nil {
		return err
	}
	defer out.Close()
	verify.Check(out.Bytes(), nil, verify.Rules{}) // refuses names of Rust, which the command only tells
	return nil
}

// anonymize takes out of a profile what tells where it was made: the compiler
// needs the names of functions and the lines of calls within them.
func anonymize(p *profile.Profile) {
	for _, m := range p.Mapping {
		m.File, m.BuildID, m.KernelRelocationSymbol = "btflite", "", ""
	}
	for _, f := range p.Function {
		f.Filename = path.Base(filepath.ToSlash(f.Filename))
	}
	for _, s := range p.Sample {
		s.Label, s.NumLabel, s.NumUnit = nil, nil, nil
	}
	p.Comments, p.DropFrames, p.KeepFrames, p.TimeNanos = nil, "", "", 0
}
