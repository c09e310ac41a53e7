package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/btflite/btflite/test/testfile"
)

// TestSymbolsOfDebugFile: the symbols of a stripped file are in its debug file. Commands find them there, and print the
// same as for the file before it was stripped.
func TestSymbolsOfDebugFile(t *testing.T) {
	const (
		whole    = "../../encode/testdata/golden/x86-gcc5.elf"
		stripped = "../../encode/testdata/debugfile/x86-gcc5.stripped.elf"
	)
	for _, args := range []string{
		"why by_value same_name not_inlined",
		"funcs -s",
		"funcs -a 0x400240",
		"inline shared_inline",
		"inline --json shared_inline",
		"inline --at=caller+0x28",
		"inline --at=0x400268",
	} {
		t.Run(args, func(t *testing.T) {
			want, _ := btfliteRun(t, exitOK, append(strings.Fields(args), whole)...)
			got, _ := btfliteRun(t, exitOK, append(strings.Fields(args), stripped)...)
			if diff := cmp.Diff(want, got); diff != "" || got == "" {
				t.Error(diff)
			}
		})
	}
	t.Run("--elf", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "btf")
		btfliteRun(t, exitOK, "-J", "--btf_features=default,inline", "--btf_encode_detached="+file, whole)
		want, _ := btfliteRun(t, exitOK, "inline", "--elf="+whole, "shared_inline", file)
		got, _ := btfliteRun(t, exitOK, "inline", "--elf="+stripped, "shared_inline", file)
		if diff := cmp.Diff(want, got); diff != "" || !strings.Contains(got, "in caller+0x28") {
			t.Error(diff, got)
		}
	})
	t.Run("--report", func(t *testing.T) {
		advice := func(file string) string {
			dir := t.TempDir()
			report := filepath.Join(dir, "report")
			btfliteRun(t, exitOK, "-J", "--btf_features=default", "--btf_encode_detached="+filepath.Join(dir, "btf"), "--report="+report, file)
			var r struct {
				Functions []skippedFunction `json:"left_out_functions"`
				Renamed   []renamedFunction `json:"functions_without_own_symbol"`
			}
			if err := json.Unmarshal(testfile.Read(t, report), &r); err != nil {
				t.Fatal(err)
			}
			return fmt.Sprintf("%+v", r)
		}
		want, got := advice(whole), advice(stripped)
		if diff := cmp.Diff(want, got); diff != "" || !strings.Contains(got, "kprobe:by_value.isra.0") {
			t.Error(diff, got)
		}
	})
}
