package unitrecord

import (
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/unit"
)

// TestBoundsOfNodes: a number that is one too large for the nodes of a unit is damage, wherever a record
// has it. The largest one is not.
func TestBoundsOfNodes(t *testing.T) {
	nodes := []dedup.Ref{11, 12, 13}
	for n, bad := range map[byte]bool{0: false, 2: false, 3: true, 4: true} {
		x, common := refReader{nodes: nodes}, column{b: []byte{n}}
		if x.begin(&common); common.bad != bad || !bad && x.common[0] != nodes[n] {
			t.Errorf("node %d of %d is common: damage %v, %v", n, len(nodes), common.bad, x.common)
		}
		for k := range 2 { // the first of the common ones, and the one behind the last
			c := column{b: []byte{refCommon + byte(k)}}
			if r := x.read(&c, 0); c.bad != (k >= len(x.common)) || !c.bad && r != x.common[k] {
				t.Errorf("common node %d of %d: damage %v, %d", k, len(x.common), c.bad, r)
			}
		}
		for _, code := range [][]byte{{byte(near(0, int(n)))}, {refHigh, n}, {refFar, n}} {
			c := column{b: code}
			if r := x.read(&c, 0); c.bad != bad || !bad && r != nodes[n] {
				t.Errorf("%x leads to node %d of %d: damage %v, %d", code, n, len(nodes), c.bad, r)
			}
		}
		var r Reader
		var u unit.Unit
		for range nodes {
			u.Types.Nodes.Append(dedup.Node{Info: btf.Info(btf.KindTypedef, 0, false)})
		}
		r.cols[colAnnot].b, r.cols[colName].b = []byte{byte(zigzag(int64(n))), 0}, []byte{0}
		if r.tags(&u, &unit.Input{Options: unit.Options{DeclTag: true}}, 1); r.bad != bad || !bad && u.Tags.S[0].Node != uint32(n) {
			t.Errorf("a tag of node %d of %d: damage %v, %v", n, len(nodes), r.bad, u.Tags.S)
		}
	}
}
