package finish

import (
	"fmt"
	"strings"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/lower"
	"github.com/btflite/btflite/btf/verify"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/message"
)

// lowerShare is how much memory it takes to lower BTF, as a multiple of its size: the records,
// and the result.
const lowerShare = 3

// lowerOutput lowers the BTF main, which may be split from w.Base, and the BTF in over, which
// is split from main. It counts main again.
func (w *Work) lowerOutput(out *encode.Output, main []byte, over [][]byte) (to []byte, lost lower.Report, err error) {
	size := len(main)
	for _, data := range over {
		size += len(data)
	}
	if err := out.CheckMemory(lowerShare * size); err != nil {
		return nil, lost, err
	}
	if main, lost, err = w.lowered(main, over); err != nil {
		return nil, lost, err
	}
	return main, lost, out.Stats.Count(main)
}

// lowered is lowerOutput without counting. Any of the parts may be empty.
func (w *Work) lowered(main []byte, over [][]byte) (_ []byte, lost lower.Report, err error) {
	old, to := w.Base, w.Base // the base of over: before, and now
	if len(main) > 0 {
		if old, err = btf.ParseShared(main, w.Base); err != nil {
			return nil, lost, err
		}
		if to, lost, err = lower.Lower(old, *w.Lower); err != nil {
			return nil, lost, err
		}
		main = to.Encode()
	}
	for i, data := range over {
		if len(data) == 0 {
			continue
		}
		x, err := btf.ParseShared(data, old)
		if err == nil && old != to {
			x, err = btf.Rebase(x, to, func(id uint32) uint32 { return id })
		}
		if err == nil {
			x, _, err = lower.Lower(x, *w.Lower)
		}
		if err != nil {
			return nil, lost, err
		}
		over[i] = x.Encode()
	}
	return main, lost, nil
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
