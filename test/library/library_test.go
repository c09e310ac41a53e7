// Package library uses btflite as another module would: what it encodes is read by
// cilium/ebpf.
package library

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"testing"

	ciliumbtf "github.com/cilium/ebpf/btf"

	"github.com/btflite/btflite"
)

const splitFiles = "../../testdata/split/"

// DWARF in memory becomes BTF in memory, which cilium/ebpf reads.
func Example() {
	image, err := os.ReadFile(splitFiles + "x86.base.o")
	if err != nil {
		log.Fatal(err)
	}
	r, err := btflite.Encode(context.Background(), []btflite.Source{{Path: "base.o", Data: image}}, btflite.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	spec, err := ciliumbtf.LoadSpecFromReader(bytes.NewReader(r.BTF))
	if err != nil {
		log.Fatal(err)
	}
	var s *ciliumbtf.Struct
	if err := spec.TypeByName("thing", &s); err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Name, s.Size, s.Members[0].Name)
	// Output: thing 112 count
}

// TestModule: the split BTF of a module is read over that of its kernel.
func TestModule(t *testing.T) {
	ctx := context.Background()
	kernel, err := btflite.Encode(ctx, btflite.Paths(splitFiles+"x86.base.o"), btflite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer kernel.Close()
	base, err := btflite.OpenBase(ctx, btflite.Source{Path: "kernel", Data: kernel.BTF})
	if err != nil {
		t.Fatal(err)
	}
	defer base.Close()
	module, err := btflite.Encode(ctx, btflite.Paths(splitFiles+"x86.module.o"), btflite.Options{Base: base})
	if err != nil {
		t.Fatal(err)
	}
	defer module.Close()
	below, err := ciliumbtf.LoadSpecFromReader(bytes.NewReader(kernel.BTF))
	if err != nil {
		t.Fatal(err)
	}
	split, err := ciliumbtf.LoadSplitSpecFromReader(bytes.NewReader(module.BTF), below)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range split.All() {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n == 0 {
		t.Error("no types")
	}
}
