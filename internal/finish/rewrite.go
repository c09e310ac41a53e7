package finish

import (
	"context"

	"github.com/btflite/btflite/btf"
)

// rewritten returns the BTF main, which may be split from w.Base, after do, and replaces the BTF in
// over, which is split from main, by BTF after do that is split from the new main. Any of them may be
// empty.
func (w *Work) rewritten(ctx context.Context, main []byte, over [][]byte, do Sorter) ([]byte, error) {
	old, to := w.Base, w.Base // the base of over: before, and now
	var ids []uint32
	var err error
	if len(main) > 0 {
		if old, err = btf.ParseShared(main, w.Base); err != nil {
			return nil, err
		}
		if to, ids, err = do(ctx, old); err != nil {
			return nil, err
		}
		main = to.Encode()
	}
	for i, data := range over {
		if len(data) == 0 {
			continue
		}
		x, err := btf.ParseShared(data, old)
		if err == nil && old != to {
			x, err = btf.Rebase(x, to, func(id uint32) uint32 {
				if ids == nil || id < old.FirstID {
					return id
				}
				return ids[id-old.FirstID]
			})
		}
		if err == nil {
			x, _, err = do(ctx, x)
		}
		if err != nil {
			return nil, err
		}
		over[i] = x.Encode()
	}
	return main, nil
}
