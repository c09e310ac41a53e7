package finish

import (
	"context"

	"github.com/btflite/btflite/btf"
)

// sorted is the BTF main, over w.Base or without one, and the BTF extra over that,
// both in the order. Either may be empty.
func (w *Work) sorted(ctx context.Context, main, extra []byte) ([]byte, []byte, error) {
	old, to := w.Base, w.Base // what extra was over, and is
	var ids []uint32
	var err error
	if len(main) > 0 {
		if old, err = btf.Parse(main, w.Base); err == nil {
			to, ids, err = w.Order(ctx, old)
		}
		if err != nil {
			return nil, nil, err
		}
		main = to.Encode()
	}
	if len(extra) == 0 {
		return main, nil, nil
	}
	x, err := btf.Parse(extra, old)
	if err == nil && old != to {
		x, err = btf.Rebase(x, to, func(id uint32) uint32 {
			if id < old.FirstID {
				return id
			}
			return ids[id-old.FirstID]
		})
	}
	if err == nil {
		x, _, err = w.Order(ctx, x)
	}
	if err != nil {
		return nil, nil, err
	}
	return main, x.Encode(), nil
}
