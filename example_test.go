package btflite_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/btflite/btflite"
	"github.com/btflite/btflite/btf/diff"
)

// The split BTF of a module, over the BTF of its kernel.
func ExampleOpenBase() {
	ctx := context.Background()
	base, err := btflite.OpenBase(ctx, btflite.Source{Path: "testdata/split/x86.base-btf.o"})
	if err != nil {
		log.Fatal(err)
	}
	defer base.Close()
	r, err := btflite.Encode(ctx, btflite.Paths("testdata/split/x86.module.o"), btflite.Options{Base: base})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	fmt.Println(len(r.BTF) > 0, r.Warnings)
	// Output: true []
}

// DWARF that is in memory becomes BTF in memory.
func ExampleEncode() {
	image, err := os.ReadFile("testdata/split/x86.base.o")
	if err != nil {
		log.Fatal(err)
	}
	r, err := btflite.Encode(context.Background(), []btflite.Source{{Path: "base.o", Data: image}}, btflite.Options{Jobs: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	fmt.Printf("%x, %d units\n", r.BTF[:2], r.Stats.CUs)
	// Output: 9feb, 1 units
}

// How the BTF of two kernels differs.
func ExampleDiff() {
	ctx := context.Background()
	v1, v2 := btflite.Source{Path: "testdata/split/x86.base.btf"}, btflite.Source{Path: "testdata/split/s390x.base.btf"}
	found, err := btflite.Diff(ctx, v1, v2, nil, nil, diff.Options{Parts: []string{"struct"}})
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range found {
		fmt.Println(strings.Join(d.Lines(), "\n"))
	}
	// Output:
	// ~ struct hidden
	//     ~ member a: type short -> short int
	//     ~ member b: type short -> short int
	// ~ struct thing
	//     ~ member part
	//         ~ member text: type btf_type_tag("user") char * -> char *
	//     ~ member (anonymous)
	//         ~ member stamp: type volatile long -> volatile long int
}

// Whether Linux 6.12 would take some BTF.
func ExampleVerify() {
	data, err := os.ReadFile("testdata/split/x86.base.btf")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(btflite.Verify(ctx, data, nil, "6.12"))
	bad := []byte(strings.Replace(string(data), "\x00thing\x00", "\x00th ng\x00", 1))
	fmt.Println(btflite.Verify(ctx, bad, nil, "6.12"))
	// Output:
	// <nil>
	// BTF type [6] STRUCT "th ng": name is not a C identifier
}
