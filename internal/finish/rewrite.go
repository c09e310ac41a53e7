package finish

import (
	"context"

	"github.com/btflite/btflite/btf"
)

// sorted returns the BTF main, which may be split from w.Base, in w.Order, and sorts the BTF
// in over, which is split from main. Any of them may be empty.
func (w *Work) sorted(ctx context.Context, main []byte, over [][]byte) ([]byte, error) {
	old, to := w.Base, w.Base // the base of over: before sorting, and after
	var ids []uint32
	var err error
	if len(main) > 0 {
		if old, err = btf.Parse(main, w.Base); err == nil {
			err = ctx.Err()
		}
		if err == nil {
			to, ids, err = w.Order(ctx, old)
		}
		if err != nil {
			return nil, err
		}
		main = to.Encode()
	}
	for i, data := range over {
		if len(data) == 0 {
			continue
		}
		if over[i], err = w.sortedOver(ctx, data, old, to, ids); err != nil {
			return nil, err
		}
	}
	return main, nil
}

// sortedOver sorts the BTF data, which was split from old, and moves it over to, the
// sorted base. ids maps ids of old to ids of to.
func (w *Work) sortedOver(ctx context.Context, data []byte, old, to *btf.Blob, ids []uint32) ([]byte, error) {
	x, err := btf.Parse(data, old)
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
		return nil, err
	}
	return x.Encode(), nil
}
