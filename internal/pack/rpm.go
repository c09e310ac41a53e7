package pack

import (
	"bufio"
	"cmp"
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
	// maxTagText bounds a string of a header that is wanted, maxListText one of a list.
	maxTagText, maxListText = 1024, 4096
	// maxListed bounds how many elements a list has that is wanted.
	maxListed = 1 << 18
)

// Tags of a header.
const (
	tagName           = 1000
	tagVersion        = 1001
	tagRelease        = 1002
	tagDistribution   = 1010
	tagVendor         = 1011
	tagArch           = 1022
	tagFileDigests    = 1035
	tagDirIndexes     = 1116
	tagBaseNames      = 1117
	tagDirNames       = 1118
	tagPayloadFormat  = 1124
	tagFileDigestAlgo = 5011
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
	tags, m, err := rpmHeader(in, []uint32{tagName, tagVersion, tagRelease, tagDistribution, tagVendor, tagArch, tagPayloadFormat,
		tagFileDigests, tagDirIndexes, tagBaseNames, tagDirNames, tagFileDigestAlgo})
	if err != nil {
		return fmt.Errorf("the header: %w", err)
	}
	text := tags.texts
	*w.info = Info{text[tagName], text[tagVersion] + "-" + text[tagRelease], text[tagArch], joinWords(text[tagVendor], text[tagDistribution])}
	w.sums.setDigests(tags.digestAlgorithm(), tags.files(), tags.lists[tagFileDigests])
	if format := text[tagPayloadFormat]; format != "cpio" && format != "" {
		return fmt.Errorf("its payload is %q, not cpio", format)
	}
	if w.search != nil {
		w.search.format = tailOfCpio
	}
	at := rpmLead + (n+7)&^7 + m
	return w.compressed(in, "payload", at, size-at, w.cpio)
}

// rpmTags are the tags of a header that are wanted.
type rpmTags struct {
	texts   map[uint32]string
	lists   map[uint32][]string
	numbers map[uint32][]uint32
}

// tagPlace is where the data of a header has a tag.
type tagPlace struct{ tag, kind, at, count uint32 }

// Kinds of tags.
const (
	tagIsNumbers = 4
	tagIsText    = 6
	tagIsList    = 8 // of texts
)

// rpmHeader reads a header and returns its size and the tags that are wanted.
func rpmHeader(r *bufio.Reader, wanted []uint32) (tags *rpmTags, size int64, err error) {
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
	var places []tagPlace
	for range count {
		var entry [16]byte
		if _, err := io.ReadFull(r, entry[:]); err != nil {
			return nil, 0, cutShort("its index", err)
		}
		p := tagPlace{binary.BigEndian.Uint32(entry[:]), binary.BigEndian.Uint32(entry[4:]), binary.BigEndian.Uint32(entry[8:]), binary.BigEndian.Uint32(entry[12:])}
		if slices.Contains(wanted, p.tag) && (p.kind == tagIsText || (p.kind == tagIsList || p.kind == tagIsNumbers) && length <= maxSums && p.count <= maxListed) {
			places = append(places, p)
		}
	}
	data := &tagData{wholeReader{r: r, left: int64(length)}, length}
	if tags, err = data.read(places); err != nil {
		return nil, 0, err
	}
	if _, err := io.Copy(io.Discard, data); err != nil {
		return nil, 0, cutShort("its data", err)
	}
	return tags, 16 + 16*int64(count) + int64(length), nil
}

// tagData reads the data of a header, which has length bytes.
type tagData struct {
	wholeReader
	length uint32
}

// read reads the tags at these places, in the order of the data.
func (d *tagData) read(places []tagPlace) (*rpmTags, error) {
	tags := &rpmTags{map[uint32]string{}, map[uint32][]string{}, map[uint32][]uint32{}}
	slices.SortFunc(places, func(a, b tagPlace) int { return cmp.Compare(a.at, b.at) })
	for _, p := range places {
		at := d.length - uint32(d.left)
		if p.at < at || p.at >= d.length { // within another, or outside
			return nil, fmt.Errorf("tag %d is at byte %d of %d", p.tag, p.at, d.length)
		}
		if _, err := io.CopyN(io.Discard, d, int64(p.at-at)); err != nil {
			return nil, cutShort("its data", err)
		}
		var err error
		switch p.kind {
		case tagIsText:
			tags.texts[p.tag], err = d.text(p.tag, maxTagText)
		case tagIsList:
			var text string
			for range p.count {
				if text, err = d.text(p.tag, maxListText); err != nil {
					break
				}
				tags.lists[p.tag] = append(tags.lists[p.tag], text)
			}
		case tagIsNumbers:
			list := make([]uint32, p.count)
			err = binary.Read(io.LimitReader(d, 4*int64(p.count)), binary.BigEndian, list)
			tags.numbers[p.tag] = list
		}
		if err != nil {
			return nil, cutShort("its data", err)
		}
	}
	return tags, nil
}

// text reads a string of at most so many bytes, which ends with a zero byte or with the data.
func (d *tagData) text(tag uint32, most int) (string, error) {
	var value []byte
	for d.left > 0 {
		var b [1]byte
		if _, err := io.ReadFull(d, b[:]); err != nil {
			return "", err
		}
		if b[0] == 0 {
			break
		}
		if value = append(value, b[0]); len(value) > most {
			return "", fmt.Errorf("tag %d has more than %d bytes", tag, most)
		}
	}
	return string(value), nil
}

// files returns the names of the rpm's files from the root. It returns nil if the tags do not fit together, or if
// the names take more than maxSums bytes: all files may be in one folder with a long name.
func (t *rpmTags) files() (names []string) {
	bases, dirs, of := t.lists[tagBaseNames], t.lists[tagDirNames], t.numbers[tagDirIndexes]
	if len(bases) != len(of) {
		return nil
	}
	left := maxSums
	for i, base := range bases {
		if int64(of[i]) >= int64(len(dirs)) {
			return nil
		}
		if left -= len(dirs[of[i]]) + len(base); left < 0 {
			return nil
		}
		names = append(names, dirs[of[i]]+base)
	}
	return names
}

// digestAlgorithm returns OpenPGP's number of what the digests of files are: MD5, unless a tag says another.
func (t *rpmTags) digestAlgorithm() uint32 {
	if n := t.numbers[tagFileDigestAlgo]; len(n) > 0 {
		return n[0]
	}
	return 1
}
