package main

import (
	"fmt"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/mmapelf"
)

// sectionBTFExt has the relocations of BPF objects.
const sectionBTFExt = ".BTF.ext"

// withRelocations calls use with the BTF of a BPF object and its section .BTF.ext, which is
// valid until use returns. Errors name the file; an error of use is one about the section.
func withRelocations(path string, use func(b *btf.Blob, ext []byte) error) error {
	files := btfFiles
	files.NoBTF = func(string, *mmapelf.File) string { return "clang -g -target bpf writes it" }
	return files.With(path, func(raw loadbtf.Raw) error {
		b, err := btf.Parse(raw.BTF, nil)
		if err != nil {
			return fmt.Errorf("%s:%s %w", message.OneLine(path), raw.Section, err)
		}
		in := raw.Source
		if in.Path == "" {
			return fmt.Errorf("%s: raw BTF, which has no relocations: give the BPF object", message.OneLine(path))
		}
		elf, err := in.Open()
		if err != nil {
			return message.NamingFile([]string{path}, err)
		}
		defer elf.Close()
		elf.Limit = &memoryLimit
		s := elf.Section(sectionBTFExt)
		if s == nil {
			return fmt.Errorf("%s: no section %s, which has the relocations of BPF objects: clang -g -target bpf writes it", message.OneLine(path), sectionBTFExt)
		}
		ext, err := elf.Data(s)
		if err != nil {
			return message.NamingFile([]string{path}, err)
		}
		if err := use(b, ext); err != nil {
			return fmt.Errorf("%s: section %s: %w", message.OneLine(path), sectionBTFExt, err)
		}
		return nil
	})
}
