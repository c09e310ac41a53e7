package tree

import (
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/btflite/btflite/"

// imports is what each folder may import beside the standard library; "*"
// allows everything. Tests may import the packages of testImports as well.
var imports = map[string][]string{
	".": {"btf", "btf/diff", "btf/order", "btf/verify", "encode", "internal/finish", "internal/job", "internal/loadbtf", "mmapelf",
		"github.com/btflite/btflite"}, // the last for tests
	"arena":       {"github.com/edsrzf/mmap-go", "golang.org/x/sys/unix"},
	"btf":         {"arena"},
	"btf/blocks":  nil,
	"btf/btftest": {"btf"},
	"btf/core":    {"btf", "btf/view"},
	"btf/ctype":   {"btf", "btf/view"},
	"btf/diff":    {"arena", "btf", "btf/ctype", "internal/glob", "internal/message"},
	"btf/distill": {"btf"},
	"btf/dump":    {"arena", "btf", "btf/blocks", "internal/glob", "internal/message", "github.com/btflite/btflite"}, // internal/message escapes names, the last is for tests
	"btf/funcs":   {"btf", "btf/ctype", "btf/view"},
	"btf/lower":   {"arena", "btf", "btf/verify", "btf/verify/releasetest", "dedup/deduptest"}, // those behind verify for tests
	"btf/order":   {"arena", "btf"},
	"btf/page":    {"arena", "btf", "btf/ctype", "btf/view", "internal/message"},
	"btf/stats":   {"arena", "btf", "btf/view", "internal/message", "btf/btftest"}, // the last for tests
	"btf/verify": {"arena", "btf", "internal/workers", "internal/kernelbtf", "btf/verify/releasetest", "golang.org/x/sys/unix",
		"btf/dump", "btf/funcs", "btf/show", "btf/stats", "btf/view"}, // those behind workers for tests
	"btf/verify/releasetest": {"btf"},
	"btf/rawdata":            {"btf", "btf/blocks", "btf/view", "internal/message"},
	"btf/show":               {"arena", "btf", "btf/blocks", "btf/ctype", "btf/view", "internal/glob", "internal/message"},
	"btf/sites":              {"btf"},
	"btf/view":               {"arena", "btf"},
	"compactstate":           {"arena", "internal/workers"},
	"dedup":                  {"arena", "btf", "internal/workers", "dedup/btffile", "dedup/deduptest", "dedup/exact", "github.com/edsrzf/mmap-go"}, // the last four for tests
	"dedup/btffile":          {"arena", "btf", "dedup", "dedup/exact", "dedup/deduptest"},                                                          // the last for tests
	"dedup/deduptest":        {"btf"},
	"dedup/exact":            {"arena", "btf", "dedup/deduptest"}, // the last for tests
	"encode": {"arena", "btf", "compactstate", "dedup", "dedup/exact", "internal/basematch", "internal/callconv", "internal/debuginfo", "internal/dwarf", "internal/inline", "internal/memlimit", "internal/names",
		"internal/unit", "internal/unitrecord", "mmapelf",
		"btf/verify"}, // the last for tests
	"internal/archive": {"arena", "btf", "btf/lower", "encode", "internal/basematch", "internal/debuginfo", "internal/draft", "internal/finish", "internal/job", "internal/loadbtf", "internal/memlimit", "internal/message", "internal/pack",
		"internal/xzfile", "mmapelf", "github.com/klauspost/compress/zstd", "github.com/ulikunitz/xz", "internal/workers", "btf/verify"}, // the last two for tests
	"internal/archive/archivetest": {"internal/dwarf/dwarftest", "github.com/klauspost/compress/zstd", "github.com/ulikunitz/xz", "github.com/ulikunitz/xz/lzma"},
	"internal/attach":              {"internal/basematch", "internal/elfreloc", "mmapelf"},
	"internal/basematch":           {"btf", "mmapelf"},
	"internal/callconv":            {"btf", "dedup", "internal/dwarf", "internal/elfreloc"},
	// dedup for the type of names, which are its tokens.
	"internal/debuginfo": {"arena", "dedup", "internal/dwarf", "internal/elfreloc", "internal/names", "mmapelf",
		"github.com/RoaringBitmap/roaring/v2", "github.com/dgraph-io/ristretto/v2"},
	"internal/debuginfod": {"internal/message", "golang.org/x/sys/unix"},
	"internal/declared":   {"internal/debuginfo", "internal/dwarf", "internal/names", "mmapelf"},
	// btf and dedup for the nodes that DIEs become, callconv for the records of functions.
	"internal/unit": {"arena", "btf", "dedup", "internal/callconv", "internal/debuginfo", "internal/dwarf", "internal/inline", "internal/names",
		"mmapelf"}, // the last for tests
	// callconv for where functions are, btf for the records that sites become.
	"internal/inline": {"arena", "btf", "internal/callconv", "internal/debuginfo", "internal/dwarf",
		"internal/names", "internal/unit", "mmapelf"}, // the last three for tests
	// btf, callconv and dedup for what a unit's tables hold.
	"internal/unitrecord": {"arena", "btf", "dedup", "internal/callconv", "internal/debuginfo", "internal/dwarf", "internal/names", "internal/unit",
		"github.com/klauspost/compress/s2", "github.com/btflite/btflite", "encode", "internal/ccobject", "mmapelf"}, // the last four for tests
	"internal/doctor":    {"btf", "btf/distill", "btf/verify", "internal/basematch", "internal/declared", "internal/elfabi", "internal/expand", "internal/loadbtf", "internal/message", "mmapelf"},
	"internal/elfobject": {"mmapelf"},
	"internal/ccline":    nil,
	"internal/ccobject": {"arena", "internal/ccline", "internal/debuginfo", "internal/dwarf", "internal/elfobject", "internal/names", "internal/unit", "internal/unitrecord",
		"mmapelf", "github.com/klauspost/compress/zstd", "encode"}, // the last for tests
	"internal/fullcircle": {"btf", "btf/ctype", "btf/diff", "btf/dump", "btf/view", "internal/ccline", "internal/declared", "internal/memlimit", "internal/message", "mmapelf"},
	"internal/findbase":   {"btf", "btf/distill", "internal/basematch", "internal/loadbtf", "mmapelf"},
	"internal/finish":     {"btf", "btf/distill", "btf/lower", "btf/verify", "encode", "internal/basematch", "internal/message", "internal/workers", "mmapelf", "btf/order"}, // the last for tests
	"internal/job":        {"btf", "btf/lower", "btf/verify", "encode", "internal/basematch", "internal/finish", "internal/loadbtf", "internal/message", "mmapelf"},
	"internal/loadbtf": {"arena", "btf", "btf/distill", "internal/basematch", "internal/expand", "internal/message", "mmapelf",
		"github.com/edsrzf/mmap-go"},
	"internal/message":         nil,
	"internal/dwarf":           nil,
	"internal/dwarf/dwarftest": {"internal/elftest"},
	"internal/elftest":         nil,
	"internal/elfabi":          nil,
	"internal/elfreloc":        nil,
	"internal/draft":           {"golang.org/x/sys/unix"},
	"internal/elfwrite":        {"internal/draft", "internal/fileid", "internal/message", "golang.org/x/sys/unix"},
	"internal/expand":          {"internal/xzfile", "github.com/klauspost/compress/gzip", "github.com/klauspost/compress/zstd", "github.com/ulikunitz/xz/lzma"},
	"internal/fileid":          nil,
	"internal/glob":            nil,
	"internal/kernelbtf":       {"golang.org/x/sys/unix"},
	"internal/memlimit":        {"golang.org/x/sys/unix"},
	"internal/names":           {"arena", "dedup"},
	"internal/pack":            {"internal/expand", "internal/fileid", "internal/message", "internal/workers", "internal/xzfile", "golang.org/x/sys/unix"},
	"internal/shard":           {"internal/message"},
	"internal/workers":         nil,
	"internal/xzfile":          {"internal/message", "github.com/mikelolasagasti/xz"},
	"mmapelf": {"arena", "internal/message", "github.com/edsrzf/mmap-go", "github.com/klauspost/compress/zlib", "github.com/klauspost/compress/zstd",
		"golang.org/x/sys/unix"},
	"docs/man": nil,
	"cmd/btflite": {"github.com/btflite/btflite", "docs/man", "arena", "btf", "btf/ctype",
		"btf/core", "btf/diff",
		"btf/distill",
		"btf/dump",
		"btf/funcs",
		"btf/lower",
		"btf/order",
		"btf/rawdata", "btf/show",
		"btf/sites",
		"btf/page",
		"btf/stats",
		"btf/verify",
		"btf/view",
		"dedup/btffile", "encode", "internal/archive", "internal/pack", "internal/shard", "internal/debuginfo", "internal/debuginfod", "internal/declared", "internal/doctor", "internal/draft", "internal/dwarf", "internal/attach", "internal/basematch", "internal/ccline", "internal/ccobject", "internal/elfobject", "internal/elfwrite", "internal/expand", "internal/fileid",
		"internal/findbase", "internal/finish", "internal/fullcircle", "internal/glob", "internal/job", "internal/loadbtf", "internal/memlimit", "internal/message", "internal/unitrecord", "internal/workers", "mmapelf",
		"github.com/agnivade/levenshtein", "github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/sys/unix"},
	"docs/site":       {"*"}, // a module of its own
	"test/attach":     {"btf", "internal/kernelbtf", "golang.org/x/sys/unix"},
	"test/browser":    nil,
	"test/btfload":    {"internal/kernelbtf", "btf/verify/releasetest", "golang.org/x/sys/unix"},
	"test/cachegrind": nil,
	"test/corpus":     nil,
	"test/faults":     {"*"}, // all for tests
	"test/gobuild":    nil,
	"test/guest":      {"btf", "btf/view", "internal/kernelbtf", "golang.org/x/sys/unix"},
	"test/hostile":    {"btf/btftest", "btf/verify", "internal/kernelbtf", "test/cachegrind", "test/gobuild", "test/memgroup", "golang.org/x/sys/unix"}, // all for tests
	"test/hosts":      {"test/gobuild"},
	"test/pairs":      {"btf", "test/gobuild"}, // for tests
	"test/kerneltest": {"test/gobuild"},        // its reader of BTF is separate on purpose
	"test/memgroup":   {"golang.org/x/sys/unix"},
	"test/mutants":    nil,
	"test/torture":    {"*"},
	"bench":           {"*"},
	"bench/guard":     {"*"},
	"bench/measure":   {"*"},
	"bench/mkdict":    {"*"},
	"bench/profile":   {"*"},
	"bench/shape":     {"*"},
	"bench/yardstick": nil,
	"test/deploy":     {"*"}, // a module of its own
	"test/library":    {"*"}, // a module of its own
	"test/install":    {"test/sourcetree"},
	"test/readme":     {"test/sourcetree"},
	"test/sourcetree": nil,
	"test/suite":      nil,
	"test/testfile":   nil,
	"test/tree":       {"bench/shape"}, // for tests
}

var testImports = []string{"btf/btftest", "internal/archive/archivetest", "internal/dwarf/dwarftest", "internal/elftest", "test/browser", "test/corpus", "test/testfile", "github.com/cpuguy83/go-md2man/v2/md2man",
	"github.com/google/go-cmp/cmp", "github.com/klauspost/compress/zstd", "github.com/ulikunitz/xz", "github.com/rogpeppe/go-internal/testscript"}

// TestImports: imports go one way, and unsafe has one home.
func TestImports(t *testing.T) {
	goSources(t, func(name string, data []byte) {
		dir := path.Dir(name)
		allowed, ok := imports[dir]
		if !ok {
			t.Errorf("%s: the table imports has no row for %s", name, dir)
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, data, parser.ImportsOnly)
		if err != nil {
			t.Error(err)
			return
		}
		for _, s := range f.Imports {
			imp, _ := strconv.Unquote(s.Path.Value)
			if imp == "unsafe" || imp == "C" {
				if imp == "C" || dir != "arena" {
					t.Errorf("%s imports %q; unsafe belongs to arena, C nowhere", name, imp)
				}
				continue
			}
			if first, _, _ := strings.Cut(imp, "/"); !strings.Contains(first, ".") || slices.Contains(allowed, "*") {
				continue // standard library
			}
			imp = strings.TrimPrefix(imp, module)
			if imp == "internal/elfabi" {
				continue // numbers only
			}
			test := strings.HasSuffix(name, "_test.go")
			if test && (imp == dir || slices.Contains(testImports, imp)) || slices.Contains(allowed, imp) {
				continue
			}
			t.Errorf("%s must not import %s", name, imp)
		}
	})
}
