package job

import (
	"fmt"

	"github.com/btflite/btflite/btf/verify"
	"github.com/btflite/btflite/encode"
)

// Word is the name of an option in package btflite. For the command line's names, see
// Conflict.In.
type Word string

// The options that do not go with all others.
const (
	Lang          Word = "Lang"
	LangExclude   Word = "LangExclude"
	ExtraVars     Word = "ExtraVars"
	Inline        Word = "Inline"
	Distil        Word = "Distil"
	BaseBTF       Word = "Base"
	Marks         Word = "Marks"
	AllowRefused  Word = "AllowRefused"
	Libbpf        Word = "Libbpf"
	FeatureInline Word = "the feature inline"
	FeatureVars   Word = "the feature global_var"
	Several       Word = "several inputs"
	Target        Word = "Target"
)

// Conflict is the error for options that do not go together.
type Conflict struct {
	What, With Word
	Lacks      bool // What needs With, and it is not there
	Why        string
}

// Error implements error, with the names of package btflite.
func (c *Conflict) Error() string { return c.In(nil) }

// In returns the text of c with the names of options that words gives.
func (c *Conflict) In(words map[Word]string) string {
	name := func(w Word) string {
		if s := words[w]; s != "" {
			return s
		}
		return string(w)
	}
	if c.Lacks {
		return fmt.Sprintf("%s needs %s", name(c.What), name(c.With))
	}
	return fmt.Sprintf("%s with %s: %s", name(c.What), name(c.With), c.Why)
}

// Check refuses options that do not go together. based says that there is a base, which need
// not be open yet; inputs is how many files are encoded as one.
func (o *Options) Check(based bool, inputs int) error {
	e := &o.Encode
	sites := Inline // how they are asked for
	if e.Features&encode.Inline != 0 {
		sites = FeatureInline
	}
	inlines := e.Inline || sites == FeatureInline
	none := verify.Release{} // it takes everything
	const otherIDs = "the types that it refers to have other ids in each kernel"
	for _, r := range []struct {
		refused bool
		Conflict
	}{
		{len(e.Lang) > 0 && len(e.LangExclude) > 0, Conflict{Lang, LangExclude, false, "only one list can choose the units"}},
		{o.Marks && !o.Lenient, Conflict{Marks, AllowRefused, true, ""}},
		{o.Marks && o.Distil, Conflict{Marks, Distil, false, "marks are for reading, and no kernel takes them"}},
		{o.Distil && e.ExtraVars, Conflict{ExtraVars, Distil, false, otherIDs}},
		{o.Distil && e.Inline, Conflict{Inline, Distil, false, otherIDs}},
		{e.ExtraVars && e.Features&encode.GlobalVar != 0, Conflict{ExtraVars, FeatureVars, false, "all variables are in the main BTF already"}},
		{e.Inline && sites == FeatureInline, Conflict{Inline, FeatureInline, false, "the inlined functions are in the main BTF already"}},
		{o.Distil && !based, Conflict{Distil, BaseBTF, true, ""}},
		{inlines && inputs > 1, Conflict{sites, Several, false, "sites are offsets in the sections of one file"}},
		{o.Target != none && o.Marks, Conflict{Marks, Target, false, "marks are for reading, and no kernel takes them"}},
		{o.Target != none && inlines, Conflict{sites, Target, false, "no release of Linux takes sites of inlined functions"}},
		{based && !o.Target.Takes(verify.SplitBTF), Conflict{BaseBTF, Target, false, "Linux takes split BTF from 5.11 on"}},
		{o.Distil && !o.Target.Takes(verify.DistilledBase), Conflict{Distil, Target, false, "Linux takes a distilled base from 6.11 on"}},
		{e.Libbpf > encode.Libbpf18, Conflict{Libbpf, Word(fmt.Sprint(uint8(e.Libbpf))), false, "there is no such release"}},
	} {
		if r.refused {
			return &r.Conflict
		}
	}
	return nil
}
