package limit

import (
	"errors"
	"strconv"
	"testing"
)

// Who comes again costs no memory; whoever makes callers up costs little.
func TestGaugeRemembersAThousandWhoHoldNothing(t *testing.T) {
	g := NewGauge(1<<20, 5)
	for n := range 3 * idle {
		caller := strconv.Itoa(n)
		part, err := g.Take(caller, 1)
		if err != nil {
			t.Fatal(err)
		}
		g.Give(part)
	}
	if n := len(g.by); n > idle {
		t.Errorf("%d callers are remembered that hold nothing, want %d at most", n, idle)
	}
	if got := testing.AllocsPerRun(100, func() {
		part, _ := g.Take("0", 1)
		g.Give(part)
	}); got > 0 {
		t.Errorf("got %v allocations for one that comes again", got)
	}
	if _, err := g.Take("0", 5); err != nil {
		t.Errorf("one that has given all back: %v", err)
	}
	if _, err := g.Take("0", 1); !errors.Is(err, ErrCallerFull) {
		t.Errorf("one that has all of its share: got %v, want %v", err, ErrCallerFull)
	}
}

// A caller who was forgotten is told apart anew, and once: who takes after him does not have him begin again.
func TestAGaugeBoundsACallerWhoWasForgotten(t *testing.T) {
	g := NewGauge(1<<20, 1)
	for n := range idle {
		if _, err := g.Take(strconv.Itoa(n), 1); err != nil {
			t.Fatal(err)
		}
	}
	part, _ := g.Take("x1", 1)
	if g.Give(part); g.by["x1"] != nil {
		t.Fatal("not forgotten")
	}
	for _, caller := range []string{"x1", "y1"} { // which have one place
		if _, err := g.Take(caller, 1); err != nil {
			t.Fatalf("%s: %v", caller, err)
		}
	}
	if *g.recentOf("x1") != g.by["y1"] {
		t.Fatal("they have two places")
	}
	if _, err := g.Take("x1", 1); !errors.Is(err, ErrCallerFull) {
		t.Errorf("got %v, want %v", err, ErrCallerFull)
	}
}
