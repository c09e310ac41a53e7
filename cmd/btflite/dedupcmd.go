package main

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/mmapelf"
)

// runDedup is "btflite dedup".
func (c *cli) runDedup(args []string) error {
	cfg := newConfig()
	words, err := parse(dedupOptions, args, cfg)
	if err != nil {
		return err
	}
	if cfg.action != doWork {
		return c.showAction(cfg.action, dedupIntro, dedupOptions)
	}
	if !cfg.hasOut {
		return usagef("dedup: no output file; give -o OUT")
	}
	paths, err := inputs(words)
	if err != nil {
		return err
	}
	out, err := c.resolveTarget(cfg.output)
	if err != nil {
		return err
	}
	all := paths
	if cfg.base != "" {
		all = append([]string{cfg.base}, paths...)
	}
	if err := out.refuseInputs(all); err != nil {
		return err
	}
	var base *btf.Blob
	if cfg.base != "" {
		if base, err = loadBTF(cfg.base, nil); err != nil {
			return err
		}
	}
	var blobs []*btf.Blob
	for _, p := range paths {
		b, err := loadBTF(p, base)
		if err != nil {
			return err
		}
		if len(blobs) > 0 && b.BigEndian != blobs[0].BigEndian {
			return fmt.Errorf("%s: its byte order differs from that of %s", oneLine(p), oneLine(paths[0]))
		}
		blobs = append(blobs, b)
	}
	merged, err := dedup.DedupFile(blobs, base, cfg.exact)
	if err != nil {
		return namingFile(paths, err)
	}
	data := merged.Encode()
	return out.write(c.guard, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// loadBTF reads the BTF of a raw file or of an ELF file's section .BTF.
// Errors name the file.
func loadBTF(path string, base *btf.Blob) (*btf.Blob, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fileError(path, "cannot open", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s: is a directory", oneLine(path))
	}
	var magic [4]byte
	n, err := io.ReadFull(f, magic[:])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, fileError(path, "cannot read", err)
	}
	if string(magic[:n]) == "\x7fELF" {
		return loadELF(path, base)
	}
	data, err := io.ReadAll(io.MultiReader(bytes.NewReader(magic[:n]), f))
	if err != nil {
		return nil, fileError(path, "cannot read", err)
	}
	b, err := btf.Parse(data, base)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", oneLine(path), err)
	}
	return b, nil
}

// loadELF reads the section .BTF of an ELF file.
func loadELF(path string, base *btf.Blob) (*btf.Blob, error) {
	f, err := mmapelf.Open(path)
	if err != nil {
		return nil, namingFile([]string{path}, err)
	}
	defer f.Close()
	s := f.Section(".BTF")
	if s == nil {
		return nil, fmt.Errorf("%s: no section .BTF", oneLine(path))
	}
	data, err := f.Data(s)
	if err != nil {
		return nil, namingFile([]string{path}, err)
	}
	b, err := btf.Parse(data, base)
	if err != nil {
		return nil, fmt.Errorf("%s: section .BTF: %w", oneLine(path), err)
	}
	return b, nil
}
