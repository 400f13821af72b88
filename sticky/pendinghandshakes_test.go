package sticky

import (
	"strings"
	"testing"
)

// What is changed, or removed, while it is being written is not lost, nor left.
func TestHandshakesThatChangeWhileTheyAreWritten(t *testing.T) {
	var p pendingHandshakes
	for _, id := range []string{"1", "2", "3"} {
		p.add(session(id), id)
	}
	written := p.some(10)
	if len(written) != 3 || len(p.some(2)) != 2 {
		t.Fatalf("got %v", written)
	}
	if pends, err := p.revise(session("2"), func(have []byte) ([]byte, error) { return append(have, '!'), nil }); !pends || err != nil {
		t.Fatalf("revise: %v, %v", pends, err)
	}
	p.remove(session("3"))
	for _, h := range written {
		if removed := p.settle(h); removed != (h.text == "3") {
			t.Errorf("%s: removed %v", h.text, removed)
		}
	}
	left := p.some(10)
	if len(left) != 1 || left[0] != (pendingHandshake{session: session("2"), text: "2!", over: true}) {
		t.Errorf("left: %v", left)
	}
	if pends, err := p.revise(session("2"), func([]byte) ([]byte, error) { return nil, nil }); !pends || err != nil || p.len() != 0 || p.size != 0 {
		t.Errorf("revised to nothing: %v, %v, %d left", pends, err, p.len())
	}
}

// More than there is room for is not kept.
func TestPendingHandshakesAreBounded(t *testing.T) {
	var p pendingHandshakes
	if !p.add(session("1"), strings.Repeat("x", maxPendingHandshakes)) || p.add(session("2"), "x") {
		t.Error("more is kept than there is room for")
	}
	if !p.add(session("1"), "x") || !p.add(session("2"), "x") {
		t.Error("room that was given back is not used")
	}
}
