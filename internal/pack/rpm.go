package pack

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// An rpm (format versions 3 and 4) is a lead of 96 bytes, a header of signatures, a header, and a
// payload, which is a cpio archive of any compression. A header is 16 bytes, index entries of 16 bytes,
// and data, to which the entries refer.

const (
	rpmMagic    = "\xed\xab\xee\xdb"
	rpmLead     = 96
	headerMagic = "\x8e\xad\xe8\x01"
	// maxTags and maxHeader bound a header, in entries and in bytes of data.
	maxTags   = 1 << 16
	maxHeader = 256 << 20
	// maxTagText bounds a string of a header that is wanted.
	maxTagText = 1024
)

// Tags of a header.
const (
	tagName          = 1000
	tagVersion       = 1001
	tagRelease       = 1002
	tagDistribution  = 1010
	tagVendor        = 1011
	tagArch          = 1022
	tagPayloadFormat = 1124
)

// rpm walks over an rpm, which begins with rpmMagic.
func (w *walk) rpm(in *bufio.Reader, size int64) error {
	if _, err := in.Discard(rpmLead); err != nil {
		return cutShort("the lead", err)
	}
	_, n, err := rpmHeader(in, nil)
	if err != nil {
		return fmt.Errorf("the header of signatures: %w", err)
	}
	if _, err := in.Discard(int(-n & 7)); err != nil {
		return cutShort("the header of signatures", err)
	}
	tags, m, err := rpmHeader(in, []uint32{tagName, tagVersion, tagRelease, tagDistribution, tagVendor, tagArch, tagPayloadFormat})
	if err != nil {
		return fmt.Errorf("the header: %w", err)
	}
	*w.info = Info{tags[tagName], tags[tagVersion] + "-" + tags[tagRelease], tags[tagArch], joinWords(tags[tagVendor], tags[tagDistribution])}
	if format := tags[tagPayloadFormat]; format != "cpio" && format != "" {
		return fmt.Errorf("its payload is %q, not cpio", format)
	}
	if w.search != nil {
		w.search.format = tailOfCpio
	}
	at := rpmLead + (n+7)&^7 + m
	return w.compressed(in, "payload", at, size-at, w.cpio)
}

// rpmHeader reads a header and returns its size and the strings of the tags that are wanted.
func rpmHeader(r *bufio.Reader, wanted []uint32) (texts map[uint32]string, size int64, err error) {
	var head [16]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, 0, cutShort("it", err)
	}
	if string(head[:4]) != headerMagic {
		return nil, 0, errors.New("it does not begin as one")
	}
	count, length := binary.BigEndian.Uint32(head[8:]), binary.BigEndian.Uint32(head[12:])
	if count > maxTags || length > maxHeader {
		return nil, 0, fmt.Errorf("%d tags with %d bytes cannot be", count, length)
	}
	type place struct{ tag, at uint32 }
	var places []place
	const text = 6 // the type of one string
	for range count {
		var entry [16]byte
		if _, err := io.ReadFull(r, entry[:]); err != nil {
			return nil, 0, cutShort("its index", err)
		}
		tag, at := binary.BigEndian.Uint32(entry[:]), binary.BigEndian.Uint32(entry[8:])
		if slices.Contains(wanted, tag) && binary.BigEndian.Uint32(entry[4:]) == text {
			places = append(places, place{tag, at})
		}
	}
	slices.SortFunc(places, func(a, b place) int { return int(int64(a.at) - int64(b.at)) })
	texts, at := map[uint32]string{}, uint32(0)
	data := &wholeReader{r: r, left: int64(length)}
	for _, p := range places {
		if p.at < at || p.at >= length { // within another, or outside
			return nil, 0, fmt.Errorf("tag %d is at byte %d of %d", p.tag, p.at, length)
		}
		if _, err := io.CopyN(io.Discard, data, int64(p.at-at)); err != nil {
			return nil, 0, cutShort("its data", err)
		}
		var value []byte
		for at = p.at; at < length; {
			var b [1]byte
			if _, err := io.ReadFull(data, b[:]); err != nil {
				return nil, 0, cutShort("its data", err)
			}
			if at++; b[0] == 0 {
				break
			}
			if value = append(value, b[0]); len(value) > maxTagText {
				return nil, 0, fmt.Errorf("tag %d has more than %d bytes", p.tag, maxTagText)
			}
		}
		texts[p.tag] = string(value)
	}
	if _, err := io.CopyN(io.Discard, data, int64(length-at)); err != nil {
		return nil, 0, cutShort("its data", err)
	}
	return texts, 16 + 16*int64(count) + int64(length), nil
}
