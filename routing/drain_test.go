package routing_test

import (
	"errors"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcp"
	"berth/routing"
	"berth/routing/health"
	"berth/routing/profile"
)

// Who is told that an upstream drains by its list, to leave it, finds those that joined with that.
func TestWhoLeavesFindsTheOthers(t *testing.T) {
	p := poolOf("a")
	var found *routing.Upstream
	defer p.Find("a").OnDrain(func(routing.Drain) { found = p.Find("b") })()
	_, replaced := p.Watched()
	p.Replace([]*routing.Upstream{{Name: "a", Draining: true}, {Name: "b"}})
	select {
	case <-replaced:
	default:
		t.Error("the list counts as the one before")
	}
	if found == nil {
		t.Error("b is not there yet")
	}
}

// A mark holds for an upstream that joins under its name, and for what is to go on there it does not.
func TestAMarkHoldsForWhoeverJoinsUnderItsName(t *testing.T) {
	p := poolOf("a", "b")
	p.SetDrains(map[string]routing.Drain{"c": {Since: time.Now()}})
	p.Replace(append(p.Upstreams()[:2:2], &routing.Upstream{Name: "c"}))
	for range 100 {
		lease, err := p.Pick(routing.Work{Era: mcp.EraModern}, nil)
		if err != nil || lease.Upstream.Name == "c" {
			t.Fatalf("Pick: got %v, %v, want a or b", lease, err)
		}
		lease.Release()
	}
	if lease, err := p.GoOn("c", nil); lease == nil || err != nil {
		t.Error("what it has asked its client about does not go on there")
	}
	if lease, err := p.GoOn("c", []*routing.Upstream{p.Find("c")}); lease != nil || err != nil {
		t.Errorf("tried once: %v, %v, want that another one may", lease, err)
	}
	if lease, err := p.GoOn("a", nil); lease != nil || err != nil {
		t.Error("GoOn chose one that does not drain")
	}
}

// A server of the legacy era has what it asked its client about in a session, which is nowhere else: neither its health nor its room count.
func TestWhatLivesInASessionGoesOnThere(t *testing.T) {
	old := &routing.Upstream{Name: "old", URL: &url.URL{Scheme: "http", Host: "old"}, Era: profile.SpokenLegacy}
	p := routing.NewPool(routing.PoolOptions{Name: "p", Upstreams: append(upstreams("a", "b"), old)})
	old = p.Find("old")
	for range 10 {
		p.Failed(old, health.FailedStatus, errors.New("HTTP 500"))
	}
	lease, err := p.GoOn("old", nil)
	if err != nil || !lease.Upstream.Is(old) {
		t.Fatalf("it goes on at %+v, %v", lease, err)
	}
	lease.Release()
	if lease, err := p.GoOn("old", []*routing.Upstream{old}); lease != nil || !errors.Is(err, routing.ErrNoUpstream) {
		t.Errorf("once it was tried there: %+v, %v", lease, err)
	}
	if o := p.Prospect(routing.Work{Era: mcp.EraModern, Prefer: "old"}, routing.Terms{MayWait: true, GoesOn: true}); len(o.Among) != 1 || !o.Among[0].Is(old) {
		t.Errorf("explained as going on at %+v", o.Among)
	}
}

// Who watches hears of each mark, from the one that stands on, until it stops.
func TestWatchersHearOfMarks(t *testing.T) {
	p := poolOf("a", "b")
	a, heard := p.Find("a"), 0
	stop := a.OnDrain(func(routing.Drain) { heard++ })
	mark := map[string]routing.Drain{"a": {Since: time.Now()}}
	p.SetDrains(mark)
	p.SetDrains(mark) // no news
	if heard != 1 || !a.IsDraining() || p.Find("b").IsDraining() {
		t.Errorf("heard %d times, draining: %v", heard, a.IsDraining())
	}
	again := 0
	a.OnDrain(func(routing.Drain) { again++ })()
	p.SetDrains(nil)
	stop()
	p.SetDrains(mark)
	if heard != 2 || again != 1 {
		t.Errorf("heard %d times, and %d who came later; want 2 and 1", heard, again)
	}
}

// Each thing under way counts once, and not after its end.
func TestWhatIsUnderWayCountsOnce(t *testing.T) {
	p := poolOf("a")
	a := p.Find("a")
	request, stream, held := p.Own(a), p.Own(a), p.Own(a)
	stream.Stand()
	stream.Stand()
	held.Hold()
	held.Hold()
	a.Wait()
	if got, want := a.UnderWay(), (routing.UnderWay{Requests: 1, Streams: 1, Held: 2, Waiting: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	a.WaitOver()
	for _, lease := range []*routing.Lease{request, stream, held} {
		lease.Release()
		lease.Release()
	}
	if got := a.UnderWay(); got != (routing.UnderWay{}) {
		t.Errorf("at the end: %+v", got)
	}
}

// A call that was left counts on for a while.
func TestWhatWasLeftCountsForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := poolOf("a").Find("a")
		a.Leave()
		time.Sleep(routing.LeftFor / 2)
		a.Leave()
		time.Sleep(routing.LeftFor - 1)
		if got := a.UnderWay(); got.Held != 2 || got.Left != 2 {
			t.Errorf("got %+v, want both", got)
		}
		time.Sleep(time.Nanosecond)
		if got := a.UnderWay(); got != (routing.UnderWay{}) {
			t.Errorf("in the end: %+v", got)
		}
	})
}
