package share

import (
	"testing"
	"testing/synctest"
	"time"

	"berth/sticky/binding"
)

func named(id string) binding.Key { return binding.Key{Kind: binding.Session, Pool: "p", ID: id} }

// What is put counts once, for whom it was put last, until it is dropped.
func TestWhatIsPutCountsOnceUntilItIsDropped(t *testing.T) {
	s := new(Shares)
	s.SetMost(100)
	for _, put := range []struct {
		caller, id string
		size       int64
	}{{"ann", "1", 40}, {"ann", "2", 40}, {"ann", "2", 50}, {"bob", "1", 60}, {"bob", "3", 40}} {
		if !s.Fits(put.caller, named(put.id), put.size) {
			t.Errorf("there is no room for %+v", put)
		}
		s.Put(put.caller, named(put.id), put.size)
	}
	for _, c := range []struct {
		caller, id string
		size       int64
		fits       bool
	}{
		{"ann", "new", 50, true}, {"ann", "new", 51, false}, {"ann", "2", 100, true}, {"ann", "2", 101, false},
		{"bob", "new", 1, false}, {"bob", "3", 40, true}, {"bob", "3", 41, false}, {"cid", "new", 100, true}, {"cid", "new", 101, false},
	} {
		if got := s.Fits(c.caller, named(c.id), c.size); got != c.fits {
			t.Errorf("%s may keep %d for %s: got %v", c.caller, c.size, c.id, got)
		}
	}
	s.Drop(named("3"))
	s.Drop(named("3"))
	if s.Fits("bob", named("new"), 41) || !s.Fits("bob", named("new"), 40) {
		t.Error("what was dropped counts, or gives back more than it had")
	}
	s.SetMost(0)
	if !s.Fits("bob", named("new"), 1<<40) {
		t.Error("without a bound there is one")
	}
}

func TestWhatWasUsedLongestAgoIsFoundFirstAndSwept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(Shares)
		began := time.Now()
		for _, id := range []string{"1", "2", "3"} {
			s.Put("ann", named(id), 1)
			time.Sleep(time.Second)
		}
		s.Use(named("1"))
		s.Use(named("unknown"))
		if key, used, ok := s.Oldest("ann"); !ok || key != named("2") || used != began.Add(time.Second) {
			t.Errorf("got %v, used %v, %v", key, used.Sub(began), ok)
		}
		s.Sweep(began.Add(2 * time.Second))
		if key, _, ok := s.Oldest("ann"); !ok || key != named("3") {
			t.Errorf("after a sweep: got %v, %v", key, ok)
		}
		s.Sweep(began.Add(time.Hour))
		if key, _, ok := s.Oldest("ann"); ok || len(s.by) != 0 {
			t.Errorf("after the last one: got %v, of %d callers", key, len(s.by))
		}
	})
}
