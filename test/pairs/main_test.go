package pairs

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/btflite/btflite/test/corpus"
	"github.com/btflite/btflite/test/gobuild"
)

var (
	count   = flag.Int("pairs", 100, "how many random cases to run")
	seed    = flag.Uint64("seed", 1, "what the cases are drawn from; 0 for the time")
	oneCase = flag.String("case", "", "run these cases only, as failures print them, separated by ';'")
	workers = flag.Int("workers", 2, "cases at once")
	shrinks = flag.Int("shrink", 10, "how many failing cases are shrunk; more are only printed")
	keep    = flag.Bool("keep", false, "keep the folder with the input files and say where it is")
)

// What all tests share; see TestMain.
var (
	program string // the btflite under test
	pahole  string // pahole 1.32, or "" where there is none
	root    string // the repository
	scratch string // a folder of this run
	sources string // a copy of testdata, below scratch
)

func TestMain(m *testing.M) {
	flag.Parse()
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano()) % 1_000_000_000
	}
	os.Exit(func() int {
		var err error
		if scratch, err = os.MkdirTemp("", "pairs"); err == nil {
			err = prepare()
		}
		if *keep {
			fmt.Println("files are in", scratch)
		} else {
			defer os.RemoveAll(scratch)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

// prepare builds the program and finds what else is needed.
func prepare() (err error) {
	if root, err = filepath.Abs("../.."); err != nil {
		return err
	}
	os.Setenv("GOMAXPROCS", "4") // for the programs: there are at most as many workers as threads
	program = filepath.Join(scratch, "btflite")
	if err := gobuild.Command(program, "cmd/btflite"); err != nil {
		return err
	}
	sources = filepath.Join(scratch, "src")
	if err := os.CopyFS(sources, os.DirFS("testdata")); err != nil {
		return err
	}
	pahole = corpus.Pahole()
	return nil
}
