package mcp

import (
	"fmt"
	"strings"
	"testing"
)

// Names of all objects that are open lie on one stack: a repetition is found wherever they came to lie there.
func TestANameIsFoundAmongManyWhereverItStands(t *testing.T) {
	const most = 40
	var before strings.Builder
	for i := range most {
		inner := fmt.Sprintf(`%s"n%d":{"extensions":{"n0":1,"m":{}}}`, before.String(), i)
		for j := range i + 1 {
			body := request("ping", fmt.Sprintf(`"_meta":{%s,"n%d":1}`, inner, j))
			if _, _, refusal := peek([]byte(body), 1); refusal == nil {
				t.Fatalf("member %d of %d stands there twice, and is not refused", j, i+1)
			}
		}
		if _, _, refusal := peek([]byte(request("ping", `"_meta":{`+inner+`}`)), 1); refusal != nil {
			t.Fatalf("%d members: %v", i+1, refusal)
		}
		fmt.Fprintf(&before, `"n%d":1,`, i)
	}
}

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
