package btf

import "fmt"

// Counts has the numbers of a blob. For split BTF they do not include its base.
type Counts struct {
	Types   int           // number of records
	Kinds   [NumKinds]int // number of records of each kind
	TypeLen int           // length of the type section in bytes
	StrLen  int           // length of the string section in bytes
	Vlen    uint32        // largest number of elements of a record
}

// Count counts the records of a blob. It reads only their kinds and lengths, takes no
// memory and does not check references. It is an error if a record is cut off or of an
// unknown kind.
func Count(data []byte) (c Counts, err error) {
	s, err := parseHeader(data)
	if err != nil {
		return c, err
	}
	c.TypeLen, c.StrLen = len(s.types), len(s.strings)
	o := Order(s.bigEndian)
	for at := 0; at < len(s.types); {
		if len(s.types)-at < 12 {
			return c, fmt.Errorf("btf: types: truncated record at offset %d", at)
		}
		info := o.Uint32(s.types[at+4:])
		k := InfoKind(info)
		if !k.known() {
			return c, fmt.Errorf("btf: types: unknown kind %d at offset %d", k, at)
		}
		size := 12 + 4*ExtraWords(k, InfoVlen(info))
		if size > len(s.types)-at {
			return c, fmt.Errorf("btf: types: truncated %s at offset %d", k, at)
		}
		at += size
		c.Types++
		c.Kinds[k]++
		c.Vlen = max(c.Vlen, InfoVlen(info))
	}
	return c, nil
}
