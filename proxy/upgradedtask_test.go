package proxy_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// With its acknowledgement a client is told of what moved before, and of nothing else.
func TestUpgradedTasksThatMovedAreToldAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newGreeter(t, rigOptions{}, greetRule())
		over, asking, working, telling := f.greeting("1s"), f.greeting("ask"), f.greeting("1h"), f.greeting("tell")
		time.Sleep(2 * time.Second)
		s := f.subscribe("1", tasksFilter("", working, over, asking, telling))
		synctest.Wait()
		if got, want := s.statuses(), []string{over + " completed", asking + " input_required", telling + " working: 42/100"}; !slices.Equal(got, want) {
			t.Errorf("told %v, want %v", got, want)
		}
		f.answer(asking)
		synctest.Wait()
		if got := s.statuses()[3:]; len(got) == 0 || got[len(got)-1] != asking+" completed" {
			t.Errorf("told %v, want the end", got)
		}
		n := len(s.statuses())
		f.modern("tasks/cancel", over, byID(over))
		f.modern("tasks/cancel", working, byID(working))
		time.Sleep(time.Minute)
		synctest.Wait()
		if got, want := s.statuses()[n:], []string{working + " cancelled"}; !slices.Equal(got, want) {
			t.Errorf("told %v, want %v", got, want)
		}
	})
}

// An answer to some of what a task asks for leaves its status, and is told; one that
// nobody waits for changes nothing.
func TestAnswersInPartsAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newGreeter(t, rigOptions{}, greetRule())
		id := f.greeting("ask both")
		synctest.Wait()
		s := f.subscribe("1", tasksFilter("", id))
		synctest.Wait()
		for range 2 {
			f.answer(id)
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got, want := s.told(), []string{id + " input_required", id + " input_required"}; !slices.Equal(got, want) {
			t.Fatalf("told %v, want %v", got, want)
		}
		if got := s.heard()[2].raw; strings.Contains(got, `"q":{`) || !strings.Contains(got, `"r":{`) {
			t.Errorf("told %s, want what is still asked for", got)
		}
	})
}

// A change of place in a queue is told, though no record changes.
func TestPlaceInTheQueueIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rule := greetRule()
		rule.Concurrency = 1
		f := newGreeter(t, rigOptions{size: 1}, rule)
		f.greeting("20s")
		synctest.Wait()
		second := f.greeting("20s")
		synctest.Wait()
		third := f.greeting("20s")
		synctest.Wait()
		s := f.subscribe("1", tasksFilter("", third))
		time.Sleep(90 * time.Second)
		synctest.Wait()
		want := []string{third + " working: queued, 2nd", third + " working: queued, 1st", third + " working", third + " completed"}
		if got := s.statuses(); !slices.Equal(got, want) {
			t.Errorf("told %v, want %v (%s is before it)", got, want, second)
		}
	})
}

// A place that nobody can tell because the store is away is no change of place.
func TestPlaceThatNobodyKnowsIsNotTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rule, store := greetRule(), openStore(t, "memory:")
		rule.Concurrency, rule.TTL = 1, 2*time.Minute
		f := newGreeter(t, rigOptions{size: 1, store: store}, rule)
		f.greeting("1h")
		synctest.Wait()
		id := f.greeting("1h")
		synctest.Wait()
		s := f.subscribe("1", tasksFilter("", id))
		synctest.Wait()
		store.Close()
		time.Sleep(time.Minute)
		if r := f.poll(id); r.status != 200 || strings.Contains(r.body, "queued") {
			t.Errorf("got %d %s, want the task without a place", r.status, r.body)
		}
		if got, want := s.statuses(), []string{id + " working: queued, 1st"}; !slices.Equal(got, want) || s.fault() != nil {
			t.Errorf("told %v, %v, want %v", got, s.fault(), want)
		}
		time.Sleep(rule.TTL) // until then the ends of calls wait for the store
	})
}

// A change that nobody told of is found at the poll interval: no word between berths is
// relied on. The second berth here shares the store and hears nothing.
func TestUpgradedTaskIsToldOfWithoutAWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openStore(t, "memory:")
		f := newGreeter(t, rigOptions{store: store}, greetRule())
		o, run := withGreetings(t, rigOptions{store: store, size: 3}, greetRule())
		g := f.second(o)
		run(g)
		id := f.greeting("31s")
		s := g.subscribe("1", tasksFilter("", id))
		time.Sleep(30 * time.Second)
		synctest.Wait()
		if got := s.told(); len(got) != 0 {
			t.Errorf("told %v, want nothing", got)
		}
		time.Sleep(6 * time.Second)
		synctest.Wait()
		if got, want := s.told(), []string{id + " completed"}; !slices.Equal(got, want) {
			t.Errorf("told %v, want %v", got, want)
		}
	})
}
