package main

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/verify"
	"github.com/btflite/btflite/internal/basematch"
	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/internal/workers"
)

// outcome is the verdict of "btflite verify" on a file.
type outcome int

const (
	fine outcome = iota
	refused
	unreadable
	withoutBTF // a module in a folder, without BTF
	outcomes
)

var outcomeNames = [outcomes]string{"fine", "refused", "unreadable", "without_btf"}

// verified is the outcome for one file, as --json prints it.
type verified struct {
	File    string `json:"file"`
	Outcome string `json:"verdict"`
	Types   int    `json:"types,omitempty"`
	Bytes   int    `json:"bytes,omitempty"`
	Base    string `json:"base,omitempty"`
	// Since is the release from which on all accept the BTF. Needs says for which
	// feature.
	Since string `json:"since,omitempty"`
	Needs string `json:"needs,omitempty"`
	// Reason says why it is refused or unreadable, without the name of the file.
	Reason  string `json:"reason,omitempty"`
	Fault   *fault `json:"fault,omitempty"`
	Warning string `json:"warning,omitempty"`
	// Skipped says which types were not checked, because btflite does not know their
	// kinds.
	Skipped    string   `json:"skipped,omitempty"`
	Duplicates []string `json:"duplicates,omitempty"`

	section  string
	outcome  outcome
	guessed  bool // Base was found, not given by the user
	baseless bool // refused because its base was not found
}

// fault describes what is wrong, and in which type.
type fault struct {
	ID    uint32 `json:"type_id,omitempty"`
	Kind  string `json:"kind,omitempty"`
	Name  string `json:"name,omitempty"`
	Rule  string `json:"rule"`
	Boot  bool   `json:"at_boot"`
	Needs string `json:"needs,omitempty"`
}

// verifyAll verifies the files, several at a time, and reports each outcome in the order
// of the files.
func verifyAll(files []verifiedFile, cfg *verifyCommand, find *baseFinder, r *verifyReport) {
	done := make([]*verified, len(files))
	var next atomic.Int64
	var mu sync.Mutex // of done and told
	told := 0
	jobs := min(cfg.jobs, len(files))
	rules := cfg.rules
	if len(files) == 1 {
		rules.Workers = cfg.jobs
	}
	workers.Do(jobs, func(int) {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(files) {
				return
			}
			v := verifyFile(files[i], cfg.noDups, rules, find)
			mu.Lock()
			done[i] = v
			for ; told < len(done) && done[told] != nil; told++ {
				r.add(done[told])
				done[told] = nil
			}
			mu.Unlock()
		}
	})
}

func verifyFile(f verifiedFile, noDups bool, rules verify.Rules, find *baseFinder) *verified {
	v := &verified{File: f.path}
	err := f.err
	if err == nil {
		err = v.read(noDups, rules, find)
	}
	switch {
	case err != nil && f.inFolder && errors.Is(err, loadbtf.ErrNoBTF):
		v.outcome = withoutBTF
	case err != nil:
		v.outcome = unreadable
		v.Reason = err.Error()
	}
	v.Outcome = outcomeNames[v.outcome]
	return v
}

// read reads the file and verifies its BTF. The error says why it cannot be read.
func (v *verified) read(noDups bool, rules verify.Rules, find *baseFinder) (err error) {
	defer recoverFault(v.File, &err)
	return btfFiles.With(v.File, func(raw loadbtf.Raw) error {
		if !btf.HasMagic(raw.BTF) {
			return fmt.Errorf("%s:%s no BTF: it does not begin with BTF's magic number", message.OneLine(v.File), raw.Section)
		}
		v.section = raw.Section
		v.judge(v.File, &raw, noDups, rules, find)
		return nil
	})
}

const giveBase = "give --btf_base=VMLINUX or --image=/lib/modules/RELEASE"

// judge verifies the BTF of a file over its base.
func (v *verified) judge(path string, raw *loadbtf.Raw, noDups bool, rules verify.Rules, find *baseFinder) {
	v.Bytes = len(raw.BTF)
	rules.PointerSize = raw.PointerSize
	rules.Loaded = raw.BPF
	over, err := v.over(path, raw, rules, find)
	if err != nil {
		v.refuse(err, rules, "")
		return
	}
	rules.Distilled = raw.Base != nil
	hint := ""
	var base *btf.Blob
	if over != nil {
		defer find.release(over.base)
		base, v.Warning = over.base.blob, over.mismatch
		switch {
		case over.broken != nil:
			v.refuse(fmt.Errorf("refused: %w", over.broken), rules, ": "+over.noFit())
			return
		case over.unread != nil && !over.damaged: // over a wrong base, any rule may be broken
			hint = ": " + over.noFit()
		}
	} else if isSplit(raw.BTF) {
		hint = "; its base was not found: " + giveBase
		v.baseless = true
	}
	judged, err := verify.Judge(raw.BTF, base, rules)
	if err != nil {
		v.refuse(err, rules, hint)
		return
	}
	v.Types, v.Since = judged.Types, judged.Since.String()
	if v.Skipped = skippedText(judged.Skipped); v.Skipped != "" {
		v.Since = "" // no known release accepts these
	}
	if judged.Why != nil && rules.Kernel == (verify.Release{}) {
		v.Needs = plain(judged.Why)
	}
	if noDups {
		v.duplicates(raw, base)
	}
}

// over reads the BTF over its base: the distilled base in the file, or the base that find
// finds; nil if there is none.
func (v *verified) over(path string, raw *loadbtf.Raw, rules verify.Rules, find *baseFinder) (*fit, error) {
	if raw.Base == nil {
		over, _ := find.base(path, raw, nil)
		if over != nil {
			v.Base, v.guessed = over.base.path, find.fixed == nil
		}
		return over, nil
	}
	// Kernels read it like their own BTF.
	rules.Level = verify.Boot
	if _, err := verify.Check(raw.Base, nil, rules); err != nil {
		return nil, fmt.Errorf("section .BTF.base: %s", refusal(err, rules))
	}
	b, err := btf.Parse(raw.Base, nil)
	if err != nil {
		return nil, fmt.Errorf("section .BTF.base: %w", err)
	}
	return (&foundBase{path: ".BTF.base", blob: b, kernel: new(basematch.Kernel)}).fit(raw), nil
}

// refuse makes v a refusal. The hint follows the reason.
func (v *verified) refuse(err error, rules verify.Rules, hint string) {
	v.outcome = refused
	v.Reason = refusal(err, rules) + hint
	var f *verify.Fault
	if errors.As(err, &f) {
		v.Fault = &fault{ID: f.ID, Name: f.Name, Rule: f.Rule, Boot: f.Level != verify.Load}
		if f.Kind != btf.KindVoid {
			v.Fault.Kind = f.Kind.String()
		}
		if f.Needs != (verify.Release{}) {
			v.Fault.Needs = f.Needs.String()
		}
	}
}

// duplicates refuses names with several definitions.
func (v *verified) duplicates(raw *loadbtf.Raw, base *btf.Blob) {
	b, err := btf.ParseShared(raw.BTF, base)
	if err != nil {
		v.outcome, v.Reason = refused, err.Error()
		return
	}
	for _, d := range verify.Duplicates(b) {
		v.Duplicates = append(v.Duplicates, d.String())
	}
	if len(v.Duplicates) > 0 {
		v.outcome = refused
		v.Reason = fmt.Sprintf("%s names have several definitions", grouped(uint64(len(v.Duplicates))))
	}
}

// refusal says what is refused, where, and by which kernels.
func refusal(err error, rules verify.Rules) string {
	var f *verify.Fault
	if !errors.As(err, &f) {
		return err.Error()
	}
	who := "refused"
	if rules.Kernel != (verify.Release{}) {
		who += " for " + rules.Kernel.String()
	}
	if f.Level == verify.Load {
		who += " by BPF_BTF_LOAD, though not at boot"
	}
	return who + ": " + plain(f)
}

// plain returns a fault's text without "BTF " at its start.
func plain(f *verify.Fault) string { return strings.TrimPrefix(f.Error(), "BTF ") }
