package main

import (
	"fmt"
	"strings"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/internal/message"
)

// A layout section says how long records of unknown kinds are, so that they can be
// skipped.

// skippedText counts the skipped types, "" for none.
func skippedText(skipped []btf.Skipped) string {
	var list []string
	for _, s := range skipped {
		list = append(list, fmt.Sprintf("%s of kind %d", grouped(uint64(s.Types)), s.Kind))
	}
	if len(list) == 0 {
		return ""
	}
	return "types of kinds that btflite does not know: " + strings.Join(list, ", ")
}

// warnSkipped warns, once for a file, that such types are skipped, and says what follows
// from that.
func (c *cli) warnSkipped(path string, b *btf.Blob, outcome string) {
	if text := skippedText(b.Skipped); text != "" {
		c.warn(message.OneLine(path) + ": note: " + text + "; " + outcome)
	}
}

// withoutSkipped returns b without such types, and warns if there are some.
func (c *cli) withoutSkipped(path string, b *btf.Blob) (*btf.Blob, error) {
	c.warnSkipped(path, b, "they are dropped: their type ids cannot be renumbered")
	known, err := b.WithoutSkipped()
	if err != nil {
		return nil, message.NamingFile([]string{path}, err)
	}
	return known, nil
}
