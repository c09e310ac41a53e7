package encode

import "github.com/btflite/btflite/dedup"

// newSet makes the set of types and the pool of names.
func (r *run) newSet() error {
	if err := r.takeSet(); err != nil {
		return err
	}
	r.set.SetLimit(r.limit)
	r.set.Alone = r.opt.Jobs <= 1
	return nil
}

func (r *run) takeSet() (err error) {
	var base *dedup.Base
	if r.opt.Base != nil {
		base = r.opt.Base.d
	}
	r.names.Use(r.session.takePool(base, r.limit))
	if r.set = r.session.takeSet(&r.names); r.set != nil {
		return nil
	}
	switch {
	case r.phase == batch:
		r.set = dedup.NewSet(&r.names, 1<<17)
		r.set.Raw = true
	case base != nil:
		r.set, err = dedup.NewSplitSet(&r.names, base, 1<<12, r.opt.Libbpf == Libbpf17)
	default:
		r.set = dedup.NewSet(&r.names, 1<<17)
	}
	return err
}

// bytesPerString is how many bytes of .debug_info kernels have for each distinct string
// of their BTF. recordPerString is the same with unit records. maxReserved keeps the
// tables of other files small.
const (
	bytesPerString  = 2048
	recordPerString = 171
	maxReserved     = 1 << 17
)

// reserve makes room in the set for the names of the first file.
func (r *run) reserve(f *input) {
	if len(r.inputs) != 1 || r.opt.Base != nil {
		return
	}
	per := bytesPerString
	if f.File.Survey.Records {
		per = recordPerString
	}
	r.set.Reserve(min(len(f.File.Info)/per, maxReserved))
}
