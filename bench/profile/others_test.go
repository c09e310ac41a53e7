package main

import (
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

// TestExpand: what is packed for the profile can be expanded, so the profile has the decoder.
func TestExpand(t *testing.T) {
	file := testfile.New(t, "kernel", make([]byte, 1<<20))
	packed, err := pack(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := expand(packed); err != nil {
		t.Error(err)
	}
	if err := expand(packed[:len(packed)/2]); err == nil {
		t.Error("half of it is expanded without an error")
	}
}
