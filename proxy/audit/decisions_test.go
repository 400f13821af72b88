package audit

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"berth/internal/api"
	"berth/internal/seal"
)

func anyOne(*api.Decision) bool { return true }

// noted closes n records, one for each status from 1.
func noted(t *testing.T, last *Decisions, n int) {
	t.Helper()
	reporter := New(nil, Options{Last: last})
	for i := range n {
		call := pollFrom(t.Context())
		call.Session, call.Caller = "secret-session", "principal abc"
		var r Record
		reporter.Begin(&r, call)
		r.Source, r.Status, r.Meant, r.Upstream = "lru", i+1, 200, "a"
		r.Close(time.Now())
	}
}

func statuses(last []api.Decision) string {
	var all []string
	for _, d := range last {
		all = append(all, strconv.Itoa(d.Status))
	}
	return strings.Join(all, " ")
}

func TestTheLastDecisionsAreKeptTheNewestFirst(t *testing.T) {
	last := new(Decisions)
	if got := last.Last(10, anyOne); got == nil || len(got) != 0 {
		t.Errorf("of nothing: got %v, want an empty list", got)
	}
	noted(t, last, 3)
	if got := statuses(last.Last(2, anyOne)); got != "3 2" {
		t.Errorf("got %s, want 3 2", got)
	}
	noted(t, last, DecisionsKept-1) // and the first two are gone
	all := last.Last(DecisionsKept, anyOne)
	if len(all) != DecisionsKept || all[0].Status != DecisionsKept-1 || all[DecisionsKept-1].Status != 3 {
		t.Errorf("got %d from %d to %d, want %d from %d to 3", len(all), all[0].Status, all[len(all)-1].Status, DecisionsKept, DecisionsKept-1)
	}
	if got := statuses(last.Last(5, func(d *api.Decision) bool { return d.Status == 7 })); got != "7" {
		t.Errorf("those that match: got %s, want 7", got)
	}
}

// What operators are told is what access records tell.
func TestADecisionTellsSessionsAndCallersAsDigests(t *testing.T) {
	last := new(Decisions)
	noted(t, last, 1)
	got := last.Last(1, anyOne)[0]
	if got.Session != seal.Digest("secret-session") || got.Caller != "abc" || got.ID != "t-1" || got.Method != "tasks/get" || got.Upstream != "a" || got.Source != "lru" || got.Outcome != "ok" {
		t.Errorf("got %+v", got)
	}
}

func TestNobodyNeedKeepDecisions(t *testing.T) {
	noted(t, nil, 1)
	if got := (*Decisions)(nil).Last(1, anyOne); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}
