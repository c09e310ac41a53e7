package page

import (
	"bytes"
	"encoding/json"
	"strconv"
	"testing"
)

// TestJSONInPieces: the data written piece by piece is the JSON of the whole.
func TestJSONInPieces(t *testing.T) {
	for _, n := range []int{0, 1, pieceLen - 1, pieceLen, pieceLen + 1, 3*pieceLen + 5} {
		d := newData(Options{})
		d.About, d.Sides = "<n>", []string{"a"}
		for i := range n {
			d.Types = append(d.Types, []any{i, "struct", nil, []int64{1, -1}})
			d.Strings = append(d.Strings, "s<"+strconv.Itoa(i)+"\u2028")
			d.List = append(d.List, i)
		}
		want, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := d.writeJSON(&got); err != nil || !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%d elements: %v, %d bytes, want %d: %.300q", n, err, got.Len(), len(want), got.Bytes())
		}
	}
}
