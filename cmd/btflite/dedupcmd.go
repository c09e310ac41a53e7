package main

import (
	"fmt"
	"slices"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
)

// runDedup is "btflite dedup".
func (c *cli) runDedup(args []string) error {
	cfg := newConfig()
	words, err := parse(dedupOptions, args, cfg)
	if err != nil {
		return err
	}
	if cfg.action != doWork {
		return c.showAction(cfg.action, dedupIntro, dedupOptions)
	}
	if !cfg.hasOut {
		return usagef("dedup: no output file; give -o OUT")
	}
	paths, err := inputs(words)
	if err != nil {
		return err
	}
	out, err := c.resolveTarget(cfg.output)
	if err != nil {
		return err
	}
	bases := c.basePaths(cfg, paths)
	if err := out.refuseInputs(slices.Concat(bases, paths)); err != nil {
		return err
	}
	base, err := loadChain(bases)
	if err != nil {
		return err
	}
	var blobs []*btf.Blob
	for _, p := range paths {
		b, err := loadBTF(p, base)
		if err != nil {
			return err
		}
		if len(blobs) > 0 && b.BigEndian != blobs[0].BigEndian {
			return fmt.Errorf("%s: its byte order differs from that of %s", oneLine(p), oneLine(paths[0]))
		}
		blobs = append(blobs, b)
	}
	merged, err := dedup.DedupFile(blobs, base, cfg.exact)
	if err != nil {
		return namingFile(paths, err)
	}
	data := merged.Encode()
	if err := checkMerged(data, blobs, base); err != nil {
		return namingFile(paths, err)
	}
	return out.write(c.guard, writeBytes(data))
}
