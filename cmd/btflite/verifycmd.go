package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/verify"
)

// exitUnreadable is the status of "btflite verify" if a file could not be read;
// exitFailure says that one is refused.
const exitUnreadable = 2

// verdict is a failure of "btflite verify" that has been printed already.
type verdict struct{ status int }

func (verdict) Error() string { return "not every file is fine" }

// tally counts verdicts.
type tally struct{ fine, refused, unreadable int }

// runVerify is "btflite verify".
func (c *cli) runVerify(args []string) error {
	cfg := newConfig()
	words, err := parse(verifyOptions, args, cfg)
	if err != nil {
		return err
	}
	if cfg.action != doWork {
		return c.showAction(cfg.action, verifyIntro, verifyOptions)
	}
	if len(words) == 0 {
		return usagef("no input file")
	}
	base, err := loadChain(cfg.bases)
	if err != nil {
		c.complain(err.Error())
		return verdict{exitUnreadable}
	}
	var n tally
	text := newLineWriter(c.stdout)
	cfg.alone = len(words) == 1
	for _, w := range words {
		c.verifyFile(w.text, base, cfg, text, &n)
	}
	if len(words) > 1 {
		text.line(fmt.Sprintf("%s files: %s fine, %s refused, %s not readable",
			grouped(uint64(len(words))), grouped(uint64(n.fine)), grouped(uint64(n.refused)), grouped(uint64(n.unreadable))))
	}
	if err := text.flush(); err != nil {
		return stdoutError(err)
	}
	switch {
	case n.unreadable > 0:
		return verdict{exitUnreadable}
	case n.refused > 0:
		return verdict{exitFailure}
	}
	return nil
}

// verifyFile judges the BTF of one file. One that is fine gets a line if it is
// the only one, or with -V.
func (c *cli) verifyFile(path string, base *btf.Blob, cfg *config, text *lineWriter, n *tally) {
	name := oneLine(path)
	err := withBTF(path, func(raw rawBTF) error {
		if len(raw.btf) < 2 || !isMagic(raw.btf) {
			return fmt.Errorf("%s:%s no BTF: it does not begin with BTF's magic number", name, raw.section)
		}
		types, note, err := judge(raw, base, cfg.rules)
		var dups []verify.Duplicate
		if err == nil && cfg.noDups {
			dups, err = duplicates(raw, base)
		}
		for i := range dups {
			text.line(name + ": " + dups[i].String())
		}
		switch {
		case err != nil:
			n.refused++
			hint := ""
			if base == nil && raw.base == nil && raw.relocatable {
				hint = "; BTF of a module needs --btf_base"
			}
			text.line(name + ":" + raw.section + " " + err.Error() + hint)
		case len(dups) > 0:
			n.refused++
			text.line(fmt.Sprintf("%s: %s names have several definitions", name, grouped(uint64(len(dups)))))
		default:
			n.fine++
			if cfg.verbose || note != "" || cfg.alone {
				text.line(fmt.Sprintf("%s: fine: %s types, %s%s", name, grouped(uint64(types)), byteSize(uint64(len(raw.btf))), note))
			}
		}
		return nil
	})
	if err != nil {
		n.unreadable++
		c.complain(err.Error())
	}
}

func isMagic(data []byte) bool {
	return data[0] == 0x9f && data[1] == 0xeb || data[0] == 0xeb && data[1] == 0x9f
}

// over is the base of raw: the distilled one that it brings along, or base.
func over(raw rawBTF, base *btf.Blob) (*btf.Blob, error) {
	if raw.base == nil {
		return base, nil
	}
	b, err := btf.Parse(raw.base, nil)
	if err != nil {
		return nil, fmt.Errorf("section .BTF.base: %w", err)
	}
	return b, nil
}

// judge checks the BTF and, if there is one, its distilled base. The note tells
// of limits of older kernels.
func judge(raw rawBTF, base *btf.Blob, rules verify.Rules) (types int, note string, err error) {
	rules.PointerSize = raw.pointerSize
	if raw.base != nil {
		if _, err := verify.Check(raw.base, nil, rules); err != nil {
			return 0, "", fmt.Errorf("section .BTF.base: %s", refusal(err))
		}
	}
	if base, err = over(raw, base); err != nil {
		return 0, "", err
	}
	hint := ""
	if base != nil {
		// Over another base than its own, any rule may be broken.
		b, err := btf.Parse(raw.btf, base)
		if err != nil {
			hint = " (split from another base?)"
		} else if err := checkBase(&raw, b); err != nil {
			return 0, "", fmt.Errorf("refused: %w", err)
		}
	}
	if types, err = verify.Check(raw.btf, base, rules); err != nil {
		return 0, "", errors.New(refusal(err) + hint)
	}
	if !rules.BeforeLinux72 {
		rules.BeforeLinux72 = true
		if _, err := verify.Check(raw.btf, base, rules); err != nil {
			note = "; before Linux 7.2 " + refusal(err)
		}
	}
	return types, note, nil
}

func duplicates(raw rawBTF, base *btf.Blob) ([]verify.Duplicate, error) {
	base, err := over(raw, base)
	if err != nil {
		return nil, err
	}
	b, err := btf.Parse(raw.btf, base)
	if err != nil {
		return nil, err
	}
	return verify.Duplicates(b), nil
}

// refusal says what is refused, and where.
func refusal(err error) string {
	var f *verify.Fault
	if !errors.As(err, &f) {
		return err.Error()
	}
	if f.Level == verify.Load {
		return "refused by BPF_BTF_LOAD, though not at boot: " + f.Error()
	}
	return "refused: " + f.Error()
}

// setKernel sets the rules of a release.
func (c *config) setKernel(v string) error {
	major, minor, _ := strings.Cut(v, ".")
	minor, _, _ = strings.Cut(minor, ".")
	x, errX := strconv.Atoi(major)
	y, errY := strconv.Atoi(minor)
	if errX != nil || errY != nil || x < 0 || y < 0 {
		return usagef("option '--kernel': '%s' is no release such as 6.12", oneLine(v))
	}
	c.rules.BeforeLinux72 = x < 7 || x == 7 && y < 2
	return nil
}
