package main

import (
	"io"
	"slices"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup/btffile"
)

// flatOrigin says which types of the output a file has.
type flatOrigin struct {
	File  string      `json:"file"`
	Types int         `json:"types"` // its own
	IDs   [][2]uint32 `json:"ids"`   // first and last id of each run
}

// writeOrigin writes which file has which types of the output, the kernel first.
func (f *flattenCommand) writeOrigin(out *btf.Blob, flat *btffile.Flat) func(io.Writer) error {
	return func(w io.Writer) error {
		l := newLineWriter(w)
		l.line(`{"version":1,"types":` + jsonText(len(out.Off)) + `,"files":[`)
		own := len(f.kernel.blob.Off)
		l.text(jsonText(flatOrigin{f.kernel.path, own, runsOf(1, uint32(own))}))
		for i, ids := range flat.Origin {
			l.text(",\n" + jsonText(flatOrigin{f.files[i].path, len(ids), runsOfIDs(ids)}))
		}
		l.line("\n]}")
		return l.flush()
	}
}

// runsOf returns the one run from first to last; none if last is lower.
func runsOf(first, last uint32) [][2]uint32 {
	if last < first {
		return [][2]uint32{}
	}
	return [][2]uint32{{first, last}}
}

// runsOfIDs returns the runs of ids that follow each other, in ascending order. It sorts ids.
func runsOfIDs(ids []uint32) [][2]uint32 {
	runs := [][2]uint32{}
	slices.Sort(ids)
	for _, id := range ids {
		if n := len(runs); n > 0 && id <= runs[n-1][1]+1 {
			runs[n-1][1] = id
			continue
		}
		runs = append(runs, [2]uint32{id, id})
	}
	return runs
}
