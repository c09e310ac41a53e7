package main

import (
	"cmp"
	"context"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/btflite/btflite/internal/doctor"
	"github.com/btflite/btflite/internal/memlimit"
	"github.com/btflite/btflite/internal/message"
)

// doctorCommand is "btflite doctor".
type doctorCommand struct {
	bases []string
	json  bool
}

func newDoctorCommand(c *cli) *cobra.Command {
	var d doctorCommand
	cmd := &cobra.Command{
		Use: "doctor [OPTION...] [TREE|.config|FILE]",
		Long: `Say why a kernel has no BTF, or BTF that it refuses. TREE is the folder of a
build or /lib/modules/RELEASE, FILE a kernel, a module or a boot image. Without
it, the folder is this one. Each finding has its cure as a line to paste.
Status 0: no errors, 1: errors, 2: cannot be examined.`,
		Example: `  btflite doctor ~/linux
  btflite doctor /boot/config-6.12.0
  btflite doctor --json --btf_base=vmlinux fs/xfs/xfs.ko`,
		RunE:        func(_ *cobra.Command, args []string) error { return d.run(c, args) },
		Annotations: map[string]string{troubleKey: ""},
	}
	under(cmd, groupOutput).bases(&d.bases, "btf_base", "FILE is split over `BASE`, or a chain")
	under(cmd, groupReport).toggle(&d.json, "json", "", "print one JSON object")
	return cmd
}

func (d *doctorCommand) run(c *cli, words []string) error {
	switch len(words) {
	case 0:
		words = []string{"."}
	case 1:
	default:
		return usagef("doctor examines one folder or file")
	}
	if err := checkNames(words); err != nil {
		return err
	}
	if words[0] == dash && slices.Contains(d.bases, dash) {
		return errReadOnce
	}
	words, err := elfInputs(words, false) // all of it is read several times
	if err != nil {
		return err
	}
	bases, err := elfInputs(d.bases, false)
	if err != nil {
		return err
	}
	r, err := doctor.Examine(words[0], hostOf(c), bases)
	if err != nil {
		return err
	}
	if len(bases) > 0 && slices.Contains([]string{"tree", "config", "image"}, r.Kind) {
		return usagef("--btf_base is for a file with split BTF, and %s is %s", message.OneLine(words[0]), doctorKinds[r.Kind])
	}
	out := newLineWriter(c.stdout)
	if d.json {
		out.line(doctorJSON(r))
	} else {
		printDoctor(out, r, c.quiet)
	}
	if err := out.flush(); err != nil {
		return stdoutError(err)
	}
	if r.Worst() == doctor.Error {
		return printedFailure{exitFailure}
	}
	return nil
}

// printDoctor prints findings as text, the worst ones first. quiet leaves out all but errors.
func printDoctor(out *lineWriter, r *doctor.Report, quiet bool) {
	where := message.OneLine(r.Input) + ": "
	for level := doctor.Error; ; level-- {
		for _, f := range r.Findings {
			if f.Level == level && (level == doctor.Error || !quiet) {
				out.line(where + level.String() + ": " + message.OneLine(f.What))
				if f.Cure != "" {
					out.line("    " + f.Cure)
				}
			}
		}
		if level == doctor.Note {
			break
		}
	}
	if len(r.Findings) == 0 && !quiet {
		out.line(where + "fine: " + doctorKinds[r.Kind])
	}
}

// doctorKinds says what was examined.
var doctorKinds = map[string]string{"tree": "a kernel tree", "config": "a configuration", "vmlinux": "a kernel", "module": "a module",
	"object": "an object", "bpf-object": "a BPF object", "image": "a boot image", "btf": "BTF"}

// doctorJSON is the report as one JSON object.
func doctorJSON(r *doctor.Report) string {
	report := struct {
		Version  string           `json:"btflite"`
		Input    string           `json:"input"`
		Kind     string           `json:"kind"`
		Release  string           `json:"release,omitempty"`
		Worst    string           `json:"worst,omitempty"`
		Findings []doctor.Finding `json:"findings"`
	}{Version: thisBuild().String(), Input: r.Input, Kind: r.Kind, Release: r.Release, Findings: append([]doctor.Finding{}, r.Findings...)}
	if len(r.Findings) > 0 {
		report.Worst = r.Worst().String()
	}
	return message.JSON(report)
}

// versionTime is how long a pahole may take to print its version.
var versionTime = 10 * time.Second

// shortOutput takes what a program prints, until that is too much for a version. Then it fails, so
// that a program that prints without end ends at once.
type shortOutput struct{ text strings.Builder }

func (s *shortOutput) String() string { return s.text.String() }

func (s *shortOutput) Write(b []byte) (int, error) {
	if s.text.Len() > 4096 {
		return 0, io.ErrShortWrite
	}
	return s.text.Write(b)
}

// hostOf describes the machine for package doctor.
func hostOf(c *cli) doctor.Host {
	name, _ := c.lookupEnv("PAHOLE")
	h := doctor.Host{Pahole: cmp.Or(name, paholeName), Memory: memlimit.Available()}
	if h.Pahole == "false" {
		return h
	}
	path, err := exec.LookPath(h.Pahole)
	if err != nil {
		h.Pahole = ""
		return h
	}
	ctx, cancel := context.WithTimeout(context.Background(), versionTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.WaitDelay = time.Second
	var out shortOutput
	cmd.Stdout = &out
	_ = c.guard.run(cmd)
	line, _, _ := strings.Cut(out.String(), "\n")
	h.PaholeVersion = strings.TrimSpace(line)
	return h
}
