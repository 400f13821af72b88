package routing_test

import (
	"sync"
	"testing"

	"berth/internal/mcp"
	"berth/routing"
)

func TestTwoChoicesNeverTakeTheBusiest(t *testing.T) {
	p := poolOf("a", "b", "c")
	busy := p.Own(p.Find("a"))
	defer busy.Release()
	for range 1000 {
		lease, err := p.Pick(routing.Work{Era: mcp.EraModern}, nil)
		if err != nil {
			t.Fatalf("Pick: %v", err)
		}
		if lease.Upstream.Name == "a" {
			t.Fatal("the busiest of three was picked")
		}
		lease.Release()
	}
}

func TestTwoChoicesSpread(t *testing.T) {
	const each = 100
	p := poolOf("a", "b", "c")
	for range 3 * each {
		if _, err := p.Pick(routing.Work{Era: mcp.EraModern}, nil); err != nil {
			t.Fatalf("Pick: %v", err)
		}
	}
	for _, u := range p.Upstreams() {
		if got := u.InFlight(); got < each-10 || got > each+10 {
			t.Errorf("%s: got %d of %d, want about %d", u.Name, got, 3*each, each)
		}
	}
}

func TestRoundRobinIsExact(t *testing.T) {
	const each = 100
	picker, err := routing.NewPicker("round-robin")
	if err != nil {
		t.Fatalf("NewPicker: %v", err)
	}
	p := routing.NewPool(routing.PoolOptions{Upstreams: upstreams("a", "b", "c"), Settings: routing.Settings{Picker: picker}})
	var picking sync.WaitGroup
	for range 3 {
		picking.Go(func() {
			for range each {
				if _, err := p.Pick(routing.Work{Era: mcp.EraModern}, nil); err != nil {
					t.Errorf("Pick: %v", err)
				}
			}
		})
	}
	picking.Wait()
	for _, u := range p.Upstreams() {
		if u.InFlight() != each {
			t.Errorf("%s: got %d, want %d", u.Name, u.InFlight(), each)
		}
	}
}

func TestUnknownPickerIsRefused(t *testing.T) {
	if _, err := routing.NewPicker("fastest"); err == nil {
		t.Error("NewPicker(fastest): got no error")
	}
}
