package jsonobject

import (
	"fmt"
	"testing"
)

func TestNamesForgetThoseOfAnObjectThatWasLeft(t *testing.T) {
	var n names
	for i := range 2 * len(n.few) {
		first := n.count
		for j := range i {
			n.add(fmt.Appendf(nil, "inner%d", j))
		}
		if i > 0 && !n.haveSince(first, fmt.Appendf(nil, "inner%d", i-1)) {
			t.Fatalf("%d outside, %d inside: the last is not found", first, i)
		}
		n.count = first
		n.add(fmt.Appendf(nil, "outer%d", i))
		if n.haveSince(0, []byte("inner0")) || !n.haveSince(0, []byte("outer0")) || n.haveSince(1, []byte("outer0")) {
			t.Fatalf("after %d: names of another object are found, or its own are not", i)
		}
	}
}
