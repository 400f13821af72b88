package upgrade

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/upgrade/places"
	"berth/upgrade/queues"
	"berth/upgrade/task"
)

// handFor makes a task for a caller that waits for its turn at the one place that there is.
func (b *berth) handFor(t *testing.T, caller, name string) string {
	t.Helper()
	c := creation(rule(queueing), name+bounded+" result/10s")
	c.Caller = caller
	h, err := b.Maker.Create(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	h.Start(nil)
	handle(h)
	synctest.Wait()
	time.Sleep(2 * time.Millisecond)
	return h.ID
}

// line returns who waits, in the order of the places that they are told, and checks that all
// berths tell the same and no place is told twice.
func lineOf(t *testing.T, berths []*berth, ids []string) []string {
	t.Helper()
	waiting := make([]string, len(ids))
	n := 0
	for _, id := range ids {
		v := berths[0].see(t, id)
		if v.State != Queued {
			continue
		}
		n++
		if other := berths[1].see(t, id).Place; other != v.Place {
			t.Errorf("told places %d and %d", v.Place, other)
		}
		if v.Place < 1 || v.Place > len(ids) || waiting[v.Place-1] != "" {
			t.Fatalf("told place %d, which is none, or another's", v.Place)
		}
		waiting[v.Place-1] = id
	}
	if slices.Contains(waiting[:n], "") {
		t.Fatalf("places are left out: %q", waiting)
	}
	return waiting[:n]
}

// One caller's backlog stood before everybody's: a call that takes no time waited for all 50
// of another caller's.
func TestCallersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		berths := startBerths(t, 2, settings{}, up)
		names := map[string]string{}
		var ids []string
		add := func(at int, caller, name string) {
			id := berths[at%2].handFor(t, caller, name)
			names[id] = name
			ids = append(ids, id)
		}
		for i := range 50 {
			add(i, "one", fmt.Sprint("one-", i))
		}
		add(1, "two", "two-0")
		var order []string
		for turn := 0; ; turn++ {
			time.Sleep(queues.Fresh) // so that what was read is not from before
			waiting := lineOf(t, berths, ids)
			if len(waiting) == 0 {
				break
			}
			time.Sleep(10*time.Second - queues.Fresh)
			synctest.Wait()
			if v := berths[0].see(t, waiting[0]); v.State != Dispatched {
				t.Fatalf("%s was first, and is %s", names[waiting[0]], v.State)
			}
			order = append(order, names[waiting[0]])
			if turn == 3 { // two others come, and one comes back
				add(0, "two", "two-1")
				add(1, "three", "three-0")
				add(0, "two", "two-2")
				add(0, "three", "three-1")
			}
		}
		began := strings.Join(order[:12], " ")
		if want := "one-1 two-0 one-2 one-3 one-4 two-1 three-0 one-5 two-2 three-1 one-6 one-7"; began != want {
			t.Errorf("the turns were\n%s, want\n%s", began, want)
		}
		if up.atOnce("u") != 1 {
			t.Errorf("%d at once", up.atOnce("u"))
		}
	})
}

// Calls that arrive at once, at several berths, take turns as others do.
func TestBurstsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		berths := startBerths(t, 2, settings{}, newTool())
		time.Sleep(testLease)
		berths[0].handFor(t, "one", "first")
		for i := range 20 {
			c := creation(rule(queueing), fmt.Sprint("one-", i, bounded, " result/10s"))
			c.Caller = "one"
			go func() {
				if h, err := berths[i%2].Maker.Create(t.Context(), c); err == nil {
					h.Start(nil)
				}
			}()
		}
		synctest.Wait()
		id := berths[1].handFor(t, "two", "two-0")
		time.Sleep(2 * places.Every)
		if v := berths[0].see(t, id); v.Place > 2 {
			t.Errorf("it stands at %d, want 2 at most", v.Place)
		}
		time.Sleep(40 * time.Second)
		berths[0].mustState(t, id, Completed)
	})
}

// A berth of before names its calls in a line by their ids alone. Neither side stops the
// other, or waits for ever.
func TestLineWithEntriesOfAnOlderBerth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBerths(t, 1, settings{shared: true}, newTool())[0]
		time.Sleep(testLease)
		running := b.handFor(t, "one", "running")
		var old, young []string
		for i := range 6 {
			h, err := b.Maker.Create(t.Context(), creation(rule(queueing), fmt.Sprint("old-", i, bounded, " result/10s")))
			if err != nil {
				t.Fatal(err)
			}
			task := h.Task()
			if err := b.ledger.Lists.Add(t.Context(), queues.WaitingIn(task.QueueName()), h.ID, time.Until(h.Expires), 0); err != nil {
				t.Fatal(err)
			}
			h.Start(nil)
			handle(h)
			old = append(old, h.ID)
			time.Sleep(2 * time.Millisecond)
			young = append(young, b.handFor(t, fmt.Sprint("caller ", i), fmt.Sprint("young-", i)))
		}
		time.Sleep(75 * time.Second)
		b.mustState(t, running, Completed)
		for _, ids := range [][]string{old, young} {
			if done := ended(t, b, ids); done < 2 || done > 5 {
				t.Errorf("%d of 6 are done after seven turns", done)
			}
		}
		time.Sleep(time.Minute)
		if done := ended(t, b, old) + ended(t, b, young); done != 12 {
			t.Errorf("%d of 12 are done", done)
		}
	})
}

func ended(t *testing.T, b *berth, ids []string) (n int) {
	for _, id := range ids {
		if b.see(t, id).State.Terminal() {
			n++
		}
	}
	return n
}

// A round that two berths gave to calls of one caller at once is only one's.
func TestRoundGivenByTwoBerthsIsOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		berths := startBerths(t, 2, settings{}, newTool())
		time.Sleep(testLease)
		berths[0].handFor(t, "zero", "running")
		polled := berths[0].handFor(t, "zero", "polled")
		waits := berths[1].see(t, polled).Task
		time.Sleep(queues.Fresh)
		late := creation(rule(queueing), "one-1"+bounded+" result/10s")
		late.Caller = "one"
		h, err := berths[1].Maker.Create(t.Context(), late)
		if err != nil {
			t.Fatal(err)
		}
		berths[1].line.lag(func() time.Duration { return patience / 2 })
		h.Start(nil) // it hears late who stood there, and not of who comes
		time.Sleep(time.Millisecond)
		berths[0].handFor(t, "one", "one-0")
		rounds := func() (given []uint64) {
			for _, name := range berths[0].members(t, queues.WaitingIn(waits.QueueName())) {
				if w := queues.ReadTurn(name); w.Caller == task.Digest("one") {
					given = append(given, w.Round)
				}
			}
			return given
		}
		time.Sleep(patience) // it was told who stands there, and the last round
		if given := rounds(); len(given) != 2 || given[0] != given[1] {
			t.Fatalf("the rounds are %d, want one twice", given)
		}
		berths[1].line.lag(nil)
		time.Sleep(2 * places.Every)
		if given := rounds(); len(given) != 2 || given[0] == given[1] {
			t.Errorf("the rounds are %d, want two", given)
		}
	})
}

// Callers who come all the time keep nobody waiting for ever who came before.
func TestNewcomersDoNotStarveABacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBerths(t, 1, settings{}, newTool())[0]
		var backlog []string
		for i := range 5 {
			backlog = append(backlog, b.handFor(t, "one", fmt.Sprint("one-", i)))
		}
		for turn := range 15 {
			for i := range 2 {
				b.handFor(t, fmt.Sprint("caller ", turn, i), fmt.Sprint("new-", turn, "-", i))
			}
			time.Sleep(10 * time.Second)
		}
		if done := ended(t, b, backlog); done < 4 {
			t.Errorf("%d of 5 are done after 15 turns", done)
		}
	})
}

// When a flush has taken what tells whose turn it is, who comes then stands behind those who
// wait, each caller's first.
func TestTurnsAfterAFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := newCell(memory(t))
		b := startBerths(t, 1, settings{at: at, shared: true}, newTool())[0]
		time.Sleep(testLease)
		for i := range 6 {
			b.handFor(t, "one", fmt.Sprint("one-", i))
		}
		time.Sleep(15 * time.Second) // the second one's turn
		at.Store(memory(t))
		time.Sleep(2 * time.Second)
		late := b.handFor(t, "two", "two-0")
		time.Sleep(2 * places.Every)
		if v := b.see(t, late); v.Place != 2 {
			t.Errorf("it stands at %d, want 2", v.Place)
		}
	})
}
