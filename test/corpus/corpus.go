// Package corpus finds the kernels and the programs to compare with, for tests and benchmarks.
package corpus

import (
	"os"
	"path/filepath"
	"strings"
)

// Dir is the folder where scripts/kernels.sh puts kernels, modules and programs: BTFLITE_CORPUS, else
// btflite-corpus in the user's cache folder. It need not be there.
func Dir() string {
	if dir := os.Getenv("BTFLITE_CORPUS"); dir != "" {
		return dir
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "btflite-corpus"
	}
	return filepath.Join(cache, "btflite-corpus")
}

// Program is the path of pahole, pfunct or bpftool: BTFLITE_PAHOLE or BTFLITE_PFUNCT, else the one in
// Dir. It need not be there.
func Program(name string) string {
	if path := os.Getenv("BTFLITE_" + strings.ToUpper(name)); path != "" {
		return path
	}
	return filepath.Join(Dir(), "bin", name)
}
