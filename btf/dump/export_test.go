package dump

// LoseFirst makes a sorted header as incomplete as bpftool's.
func (o *COptions) LoseFirst() { o.loseFirst = true }
