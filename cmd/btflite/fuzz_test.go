package main

import (
	"strings"
	"testing"
)

// FuzzOptions parses any command line. The result is usable or an error.
func FuzzOptions(f *testing.F) {
	f.Add("-J\x00-j4\x00--btf_features=default,+global_var\x00in")
	f.Add("--btf_encode_detached=out\x00--lang=c,rust\x00--memory_limit=64M\x00--\x00-in")
	f.Fuzz(func(t *testing.T, line string) {
		_, words, err := parse(strings.Split(line, "\x00")...)
		if err != nil {
			if err.Error() == "" {
				t.Error("error without text")
			}
			return
		}
		if err := checkInputs(words); err != nil && err.Error() == "" {
			t.Error("error without text")
		}
	})
}
