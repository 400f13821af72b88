package upgrade

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/storage"
	"berth/internal/storage/redistest"
)

// Each call that came to a queue, and each that went, had all who wait there look, and each of
// them compare itself with all: creations took the longer the more waited.
func TestWorkInAQueueIsNoMatterOfItsLength(t *testing.T) {
	t.Parallel()
	for _, shared := range []bool{false, true} {
		t.Run(fmt.Sprintf("shared %v", shared), func(t *testing.T) {
			var asked []int
			for _, waiting := range []int{100, 500, 2500} {
				synctest.Test(t, func(t *testing.T) {
					b := startBerths(t, 1, settings{shared: shared}, newTool())[0]
					b.hand(t, rule(queueing), "first"+bounded+" hang")
					for i := range waiting {
						b.waits(t, i)
					}
					time.Sleep(time.Second)
					b.line.note()
					began, told := time.Now(), b.line.told.Load()
					for i := range 100 {
						id := b.waits(t, i)
						time.Sleep(5 * time.Millisecond)
						if v := b.see(t, id); v.State != Queued || v.Place < 1 {
							t.Fatalf("it is %s, in place %d", v.State, v.Place)
						}
						if _, err := b.Steps.Cancel(t.Context(), id, somebody); err != nil {
							t.Fatal(err)
						}
						time.Sleep(5 * time.Millisecond)
					}
					seconds := time.Since(began).Seconds()
					if n := float64(b.line.told.Load()-told) / seconds; n > 75_000 {
						t.Errorf("%d waiting: %.0f names were read in a second", waiting, n)
					}
					asked = append(asked, len(b.line.asked()))
				})
			}
			if asked[1] > asked[0]*11/10 || asked[2] > asked[0]*11/10 {
				t.Errorf("100 calls came and went with %d questions to the store", asked)
			}
			t.Log(asked)
		})
	}
}

// All who stood in front of a place tried for each one that was given back, and but one in vain.
func TestOneTriesForThoseBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBerths(t, 1, settings{shared: true}, newTool())[0]
		time.Sleep(testLease)
		many := rule(func(r *Rule) { r.Concurrency = 20 })
		slots := "enlist " + b.ledger.Lists.SlotsOf(many.Terms(poolName).Queue, "u")
		var ids []string
		for range 60 {
			ids = append(ids, b.hand(t, many, "call hang"))
			time.Sleep(time.Millisecond)
		}
		time.Sleep(10 * time.Millisecond)
		b.line.note()
		if _, err := b.Steps.Cancel(t.Context(), ids[0], somebody); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
		b.mustState(t, ids[20], Dispatched)
		b.mustState(t, ids[21], Queued)
		tried := 0
		for _, op := range b.line.asked() {
			if op == slots {
				tried++
			}
		}
		if tried > 5 {
			t.Errorf("%d tried for one place", tried)
		}
	})
}

// waits makes a task that waits in its queue, for one of ten callers.
func (b *berth) waits(t testing.TB, i int) (id string) {
	t.Helper()
	c := creation(rule(queueing), fmt.Sprint("waits-", i, bounded, " hang"))
	c.Caller = fmt.Sprint("caller ", i%10)
	h, err := b.Maker.Create(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	h.Start(nil)
	return handle(h)
}

func BenchmarkCallThatWaits(b *testing.B) {
	for _, kind := range []string{"memory", "redis"} {
		for _, waiting := range []int{100, 1000, 10_000} {
			b.Run(fmt.Sprint(kind, "/", waiting), func(b *testing.B) {
				url := "memory:"
				if kind == "redis" {
					url = redistest.Start(b).URL()
				}
				at := openStore(b, url, storage.Options{})
				defer func() { _ = at.Close() }()
				one := startBerths(b, 1, settings{at: newCell(at), lease: time.Minute}, newTool())[0]
				one.hand(b, rule(queueing), "first"+bounded+" hang")
				for i := range waiting {
					one.waits(b, i)
				}
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ { // one comes, asks for its place and goes
					id := one.waits(b, i)
					one.see(b, id)
					if _, err := one.Steps.Cancel(b.Context(), id, somebody); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
