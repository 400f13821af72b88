package upgrade

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/upgrade/ledger"
)

// What an upgraded call asks of a store that berths share, from its creation to its end, is known.
func TestStoreTripsOfAnUpgradedCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBerths(t, 1, settings{shared: true}, newTool())[0]
		b.line.atOnce = true
		time.Sleep(testLease)
		b.hand(t, rule(nil), "first result") // asks for what is asked once
		time.Sleep(100 * time.Millisecond)
		b.line.note()
		id := b.hand(t, rule(nil), "call result/100ms")
		synctest.Wait()
		for range 2 {
			b.mustState(t, id, Dispatched)
		}
		time.Sleep(time.Second / 5)
		b.mustState(t, id, Completed)
		var asked []string
		for _, op := range b.line.asked() {
			op = strings.NewReplacer(id, ":task:", b.Holder(), ":holder:", "upgrade", "").Replace(op)
			words := strings.FieldsFunc(op, func(r rune) bool { return strings.ContainsRune(" {}:", r) })
			asked = append(asked, strings.Join(slices.DeleteFunc(words, isDigest), " "))
		}
		if len(asked) > 2 && asked[1] == "swap task" && asked[2] == asked[1] {
			asked = slices.Delete(asked, 1, 2)
		}
		want := []string{
			"at once keep holders keep holder holder tasks keep made put task call absent task", // the creation
			"swap task",            // its client has the handle, and it is sent: one step or two, as they happen to meet
			"get task", "get task", // polls
			"at once put task out swap task notify delete task call keep kept delist holder holder tasks", // its end
			"get task", "get task out", // and the last poll
		}
		if !slices.Equal(asked, want) {
			t.Errorf("it asks %q\nwant %q", asked, want)
		}
	})
}

// isDigest reports whether part of a name is another one with each run.
func isDigest(word string) bool {
	return len(word) == 1 || strings.ContainsFunc(word, func(r rune) bool { return r < 'a' || r > 'z' })
}

// Where nobody else changes records, whoever holds a task answers for it.
func TestPollOfAHeldTaskReadsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBerths(t, 1, settings{}, newTool())[0]
		id := b.hand(t, rule(nil), "call result/1s")
		synctest.Wait()
		b.line.note()
		for range 3 {
			b.mustState(t, id, Dispatched)
		}
		if asked := b.line.asked(); len(asked) > 0 {
			t.Errorf("three polls ask %q", asked)
		}
		if _, err := b.Reader.Get(t.Context(), id, Asker{Pool: poolName, Principal: "mallory"}); !errors.Is(err, ledger.ErrUnknown) {
			t.Errorf("somebody else is told: %v", err)
		}
		time.Sleep(2 * time.Second)
		b.mustState(t, id, Completed)
	})
}
