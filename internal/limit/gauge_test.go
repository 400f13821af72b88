package limit_test

import (
	"errors"
	"testing"

	"berth/internal/limit"
)

func TestGaugeHasRoomForSoMuch(t *testing.T) {
	g := limit.NewGauge(10, 6)
	for _, step := range []struct {
		caller string
		take   int64
		want   error
	}{
		{"a", 4, nil},
		{"a", 3, limit.ErrCallerFull},
		{"a", 2, nil},
		{"b", 5, limit.ErrFull},
		{"b", 4, nil},
		{"c", 1, limit.ErrFull},
	} {
		if err := g.Take(step.caller, step.take); !errors.Is(err, step.want) {
			t.Errorf("%s takes %d: got %v, want %v", step.caller, step.take, err, step.want)
		}
	}
	g.Give("a", 6)
	if err := g.Take("a", 6); err != nil {
		t.Errorf("what was given back could not be taken: %v", err)
	}
	g.Give("a", 6)
	g.Give("b", 4)
	if held := g.Held(); held != 0 {
		t.Errorf("got %d held, want none", held)
	}
}

func TestGaugeWithoutSharesTellsNobodyApart(t *testing.T) {
	g := limit.NewGauge(2, 0)
	if err := errors.Join(g.Take("a", 1), g.Take("a", 1)); err != nil {
		t.Fatal(err)
	}
	if err := g.Take("b", 1); !errors.Is(err, limit.ErrFull) {
		t.Errorf("got %v, want %v", err, limit.ErrFull)
	}
}
