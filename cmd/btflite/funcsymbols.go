package main

import (
	"fmt"

	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/mmapelf"
)

// eachFunctionSymbol calls fn for the symbols of functions of an ELF file, in. BTF has
// neither addresses nor sizes of code. The values are addresses: the lowest bit of an ARM
// symbol says that its code is Thumb (ELF for the Arm Architecture, symbol values), and is 0
// here.
func eachFunctionSymbol(in mmapelf.Source, fn func(name []byte, s *mmapelf.Symbol)) error {
	e, err := in.Open()
	if err != nil {
		return message.NamingFile([]string{in.Path}, err)
	}
	defer e.Close()
	symtab := e.Section(".symtab")
	if symtab == nil {
		return fmt.Errorf("%s: no section .symtab, and BTF has no addresses", message.OneLine(in.Path))
	}
	names, err := e.SymbolStrings(symtab)
	if err != nil {
		return err
	}
	const machineARM = 40
	mode := uint64(0) // bits of a value that are no address
	if e.Machine == machineARM {
		mode = 1
	}
	return e.Symbols(symtab, func(_ int, s *mmapelf.Symbol) bool {
		const function = 2 // STT_FUNC
		if s.Info&0xf != function || s.Shndx == 0 {
			return true
		}
		s.Value &^= mode
		if name, ok := e.StringAt(names, s.Name); ok {
			fn(name, s)
		}
		return true
	})
}

// symbolAt is the name of the function that covers the address.
func symbolAt(in mmapelf.Source, address uint64) (name string, err error) {
	err = eachFunctionSymbol(in, func(symbol []byte, s *mmapelf.Symbol) {
		if name == "" && address >= s.Value && address-s.Value < max(s.Size, 1) {
			name = string(symbol)
		}
	})
	if err == nil && name == "" {
		err = fmt.Errorf("%s: no function at %#x", message.OneLine(in.Path), address)
	}
	return name, err
}

// symbolSizes are the sizes of functions in bytes, by name.
func symbolSizes(in mmapelf.Source) (map[string]uint64, error) {
	sizes := map[string]uint64{}
	err := eachFunctionSymbol(in, func(name []byte, s *mmapelf.Symbol) { sizes[string(name)] = s.Size })
	return sizes, err
}
