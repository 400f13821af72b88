package trouble

import (
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestALogKeepsTheLastEventsNewestFirst(t *testing.T) {
	var l Log
	for i := range kept + 7 {
		l.Note(Refusals, Event{ID: strconv.Itoa(i)})
	}
	all := l.Events(Refusals)
	if len(all) != kept || all[0].ID != strconv.Itoa(kept+6) || all[kept-1].ID != "7" {
		t.Fatalf("got %d events from %q to %q, want the last %d, the newest first", len(all), all[0].ID, all[len(all)-1].ID, kept)
	}
	if got := l.Count(Refusals).Total; got != kept+7 {
		t.Errorf("total %d, want %d", got, kept+7)
	}
	if other := l.Count(Orphans); other != (Count{}) || len(l.Events(Orphans)) != 0 {
		t.Errorf("another kind has %+v", other)
	}
}

func TestRecentForgetsWhatIsFiveMinutesOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Log
		l.Note(StoreOutages, Event{})
		time.Sleep(3 * time.Minute)
		l.Note(StoreOutages, Event{})
		if got := l.Count(StoreOutages); got.Recent != 2 || got.Total != 2 {
			t.Errorf("after three minutes %+v, want both", got)
		}
		time.Sleep(2*time.Minute + slot)
		if got := l.Count(StoreOutages); got.Recent != 1 || got.Total != 2 {
			t.Errorf("after five minutes %+v, want one recent of two", got)
		}
		time.Sleep(time.Hour)
		if got := l.Count(StoreOutages); got.Recent != 0 || got.Total != 2 || got.Last.IsZero() {
			t.Errorf("after an hour %+v, want none recent of two", got)
		}
	})
}

func TestALogIsOfUseToSeveralAtATimeAndToNobody(t *testing.T) {
	var l Log
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				l.Note(UnknownIDs, Event{What: "unknown task"})
				l.Count(UnknownIDs)
				l.Events(UnknownIDs)
			}
		})
	}
	all.Wait()
	if got := l.Count(UnknownIDs); got.Total != 800 || got.Recent != 800 {
		t.Errorf("got %+v, want 800", got)
	}
	var none *Log
	none.Note(Orphans, Event{})
	if none.Count(Orphans).Total != 0 || none.Events(Orphans) != nil {
		t.Error("a nil log has noted something")
	}
}

func TestKindsHaveNames(t *testing.T) {
	for _, k := range Kinds {
		if got, ok := Named(k.String()); !ok || got != k {
			t.Errorf("%v: got %v, %v", k, got, ok)
		}
	}
	if _, ok := Named("sadness"); ok {
		t.Error("sadness is a kind")
	}
}
