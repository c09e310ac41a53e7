package main

// The part "readers": btflite's commands that read BTF beside the programs that
// print the same text: bpftool, pahole and pfunct. Both write to a file, in turns.

import (
	"context"
	"fmt"
	"strings"

	"github.com/btflite/btflite/test/corpus"
)

// readersKernel is the kernel whose BTF is printed: one without Rust, whose types pahole
// prints in ways of its own.
const readersKernel = "v612-amd64"

// readerCommands are the commands to measure: what they print, the other program and its words, and
// ours. BTF stands for the file. Rounds is how often at most a slow program runs.
var readerCommands = []struct {
	name, program, peer, ours string
	rounds                    int
}{
	{"dump: raw", "bpftool", "btf dump file BTF format raw", "dump BTF", 0},
	{"dump: C, sorted", "bpftool", "btf dump file BTF format c", "dump --format=c BTF", 0},
	{"dump: C, unsorted", "bpftool", "btf dump file BTF format c unsorted", "dump --format=c --unsorted BTF", 0},
	{"dump: -j", "bpftool", "-j btf dump file BTF", "dump -j BTF", 0},
	{"dump: -p", "bpftool", "-p btf dump file BTF", "dump -p BTF", 0},
	{"show: all structs", toolPahole, "-F btf BTF", "show BTF", 0},
	{"show: one struct", toolPahole, "-F btf -C task_struct BTF", "show task_struct BTF", 0},
	{"show: -E", toolPahole, "-F btf -E BTF", "show -E BTF", 0},
	{"show: --compile", toolPahole, "-F btf --compile BTF", "show --compile BTF", 1},
	{"funcs: all prototypes", "pfunct", "-P BTF", "funcs -P BTF", 1},
	{"funcs: in the order of the file", "pfunct", "-P -A BTF", "funcs -P -A BTF", 0},
	{"funcs: one", "pfunct", "-f tcp_v4_rcv BTF", "funcs -f tcp_v4_rcv BTF", 0},
}

// ReaderResult is the outcome for one command.
type ReaderResult struct {
	Kernel  string   `json:"kernel"`
	Name    string   `json:"name"`
	Program string   `json:"program"`
	Peer    []Sample `json:"peer"`
	Ours    []Sample `json:"ours"`
	Same    bool     `json:"same"` // both texts are equal
}

// readers measures all commands on the BTF of readersKernel.
func (b *bench) readers(ctx context.Context) error {
	made := b.encoding(toolBtflite, 1, b.vmlinux(readersKernel), nil, features)
	if _, err := b.runner.mustRun(ctx, made.args); err != nil {
		return err
	}
	b.results.Readers = nil
	for _, x := range readerCommands {
		r := &ReaderResult{Kernel: readersKernel, Name: x.name, Program: x.program, Same: true}
		b.results.Readers = append(b.results.Readers, r)
		words := func(program, args string) []string {
			return append([]string{program}, strings.Fields(strings.ReplaceAll(args, "BTF", made.out))...)
		}
		peer := turn{args: words(corpus.Program(x.program), x.peer), series: &r.Peer, rounds: x.rounds}
		ours := turn{args: words(b.btflite, x.ours), series: &r.Ours}
		if err := b.inTurns(ctx, r.Kernel+", "+r.Name, pair(peer, ours, &r.Same)...); err != nil {
			return err
		}
	}
	return nil
}

func readersSection(b *strings.Builder, list []*ReaderResult) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "## Readers\n\nPrinting the BTF of %s to a file, with btflite and with the program that prints the same. "+
		"[docs/readers.md](docs/readers.md) says why texts differ.\n\n", list[0].Kernel)
	fmt.Fprint(b, command(fmt.Sprintf("go run ./bench -only=readers -n=%d", len(list[0].Ours))))
	table(b, "l|l|r|r|r|r|r|l", "what|program|CPU s|btflite|ratio|MiB|btflite|text", func(row func(...any)) {
		for _, r := range list {
			p, o := summarize(r.Peer), summarize(r.Ours)
			row(r.Name, r.Program, seconds(p.CPU), seconds(o.CPU), fmt.Sprintf("%.3f", o.CPU/max(p.CPU, 0.001)), mib(p.Peak), mib(o.Peak),
				map[bool]string{true: "same", false: "differs"}[r.Same])
		}
	})
}
