package finish

import (
	"context"
	"fmt"
	"strings"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/lower"
	"github.com/btflite/btflite/btf/verify"
	"github.com/btflite/btflite/internal/message"
)

// lowering returns the function that lowers BTF by w.Lower, or nil if w.Lower is nil. It keeps in lost what
// the main BTF loses, if there is any. What side files lose is not reported.
func (w *Work) lowering(isMain bool, lost *lower.Report) Sorter {
	if w.Lower == nil {
		return nil
	}
	return func(_ context.Context, b *btf.Blob) (*btf.Blob, []uint32, error) {
		to, report, err := lower.Lower(b, *w.Lower)
		if isMain && b.Base == w.Base {
			*lost = report
		}
		return to, nil, err
	}
}

// Lowered lowers the BTF of a file, whose base is w.Base, by w.Lower. Merged checks the
// result.
func (w *Work) Lowered(in Given) (*btf.Blob, lower.Report, error) {
	b, lost, err := lower.Lower(in.BTF, *w.Lower)
	if err != nil {
		err = fmt.Errorf("nothing written: it cannot be lowered to Linux %s: %w", w.Lower.Kernel, err)
	}
	return b, lost, err
}

// LossTexts returns a line for each kind of loss of BTF that was lowered to a release.
func LossTexts(to verify.Release, lost lower.Report) (lines []string) {
	if text := cutText(lost.Cut); text != "" {
		lines = append(lines, text)
	}
	if text := renamedText(lost.Renamed); text != "" {
		lines = append(lines, fmt.Sprintf("names that Linux %s refuses: %s", to, text))
	}
	return lines
}

// cutText lists the enumerations with values that do not fit 32 bits.
func cutText(cut []lower.Enum) string {
	if len(cut) == 0 {
		return ""
	}
	var list []string
	for _, e := range cut {
		name := "(anon)"
		if e.Name != "" {
			name = e.Name
		}
		list = append(list, fmt.Sprintf("[%d] %s (%s = %#x)", e.ID, name, e.Value, e.Full))
	}
	what := "values of ENUM64 are cut to 32 bits: "
	if cut[0].Union {
		what = "ENUM64 with values over 32 bits are unions without values: "
	}
	return what + message.OneLine(strings.Join(list, ", "))
}

// renamedText says which names became which, the first ones.
func renamedText(renamed []lower.Name) string {
	const most = 5
	var list []string
	for _, n := range renamed[:min(most, len(renamed))] {
		list = append(list, fmt.Sprintf("[%d] %s is %s", n.ID, n.Old, n.New))
	}
	text := message.OneLine(strings.Join(list, ", "))
	if n := len(renamed) - most; n > 0 {
		text += ", and " + message.Grouped(uint64(n)) + " more"
	}
	return text
}
