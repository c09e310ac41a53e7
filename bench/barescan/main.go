// Command barescan walks all DIEs of a file once, keeps nothing, and prints how
// many there are: the yardstick that the cost of encoding is compared with.
package main

import (
	"fmt"
	"os"

	"github.com/btflite/btflite/bench/scan"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: barescan VMLINUX")
		os.Exit(2)
	}
	dies, err := scan.Scan(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "barescan:", err)
		os.Exit(1)
	}
	fmt.Println(dies)
}
