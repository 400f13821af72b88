package limit_test

import (
	"errors"
	"testing"

	"berth/internal/limit"
)

func TestGaugeHasRoomForSoMuch(t *testing.T) {
	g := limit.NewGauge(10, 6)
	held := make(map[string]limit.Part)
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
		taken, err := g.Take(step.caller, step.take)
		if !errors.Is(err, step.want) {
			t.Errorf("%s takes %d: got %v, want %v", step.caller, step.take, err, step.want)
		}
		if err == nil {
			all := held[step.caller]
			all.Add(taken)
			held[step.caller] = all
		}
	}
	g.Give(held["a"])
	again, err := g.Take("a", 6)
	if err != nil {
		t.Errorf("what was given back could not be taken: %v", err)
	}
	g.Give(again)
	g.Give(held["b"])
	g.Give(limit.Part{})
	if held := g.Held(); held != 0 {
		t.Errorf("got %d held, want none", held)
	}
}

func TestGaugeWithoutSharesTellsNobodyApart(t *testing.T) {
	g := limit.NewGauge(2, 0)
	one, err := g.Take("a", 1)
	if _, other := g.Take("a", 1); err != nil || other != nil {
		t.Fatal(err, other)
	}
	if _, err := g.Take("b", 1); !errors.Is(err, limit.ErrFull) {
		t.Errorf("got %v, want %v", err, limit.ErrFull)
	}
	if g.Give(one); g.Held() != 1 {
		t.Errorf("got %d held, want 1", g.Held())
	}
}
