package routing_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"berth/routing"
)

func TestSilenceEndsAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		_, err := routing.NewAsker(poolOf("a", "b")).Ask(t.Context(), hangs("id"))
		if !errors.Is(err, routing.ErrUnclear) || time.Since(begun) != 3*time.Second {
			t.Errorf("Ask: got %v after %v, want ErrUnclear after 3s", err, time.Since(begun))
		}
	})
}

func TestFourQuestionsAtATimeAndNoLongWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asker := routing.NewAsker(poolOf("a"))
		var underWay, most atomic.Int64
		hang := hangs("").Ask
		var busy, unclear atomic.Int64
		var calling sync.WaitGroup
		begun := time.Now()
		for i := range 20 {
			calling.Go(func() {
				_, err := asker.Ask(t.Context(), routing.Question{Key: fmt.Sprint(i), Ask: func(ctx context.Context, u *routing.Upstream) routing.Verdict {
					most.Store(max(most.Load(), underWay.Add(1)))
					defer underWay.Add(-1)
					return hang(ctx, u)
				}})
				switch {
				case errors.Is(err, routing.ErrBusy):
					busy.Add(1)
					if time.Since(begun) != 2*time.Second {
						t.Errorf("busy after %v, want 2s", time.Since(begun))
					}
				case errors.Is(err, routing.ErrUnclear):
					unclear.Add(1)
				default:
					t.Errorf("Ask: got %v", err)
				}
			})
		}
		calling.Wait()
		if most.Load() != 4 || unclear.Load() != 4 || busy.Load() != 16 {
			t.Errorf("got %d at a time, %d asked, %d turned away, want 4, 4, 16", most.Load(), unclear.Load(), busy.Load())
		}
	})
}

func TestTwentyQuestionsASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asker := routing.NewAsker(poolOf("a"))
		var mu sync.Mutex // guards seconds
		seconds := map[int]int{}
		var busy atomic.Int64
		var calling sync.WaitGroup
		begun := time.Now()
		for i := range 100 {
			calling.Go(func() {
				_, err := asker.Ask(t.Context(), routing.Question{Key: fmt.Sprint(i), Ask: func(context.Context, *routing.Upstream) routing.Verdict {
					mu.Lock()
					defer mu.Unlock()
					seconds[int(time.Since(begun)/time.Second)]++
					return routing.Denies
				}})
				if errors.Is(err, routing.ErrBusy) {
					busy.Add(1)
				}
			})
		}
		calling.Wait()
		total := 0
		for second, n := range seconds {
			total += n
			if n > 20 {
				t.Errorf("second %d: got %d questions, want 20 at most", second, n)
			}
		}
		if total < 38 || total+int(busy.Load()) != 100 {
			t.Errorf("in two seconds: got %d asked and %d turned away, want about 40 and the rest", total, busy.Load())
		}
	})
}

// What all denied is not asked for again for five seconds: by this caller. Another
// caller's credentials may see what this one's do not.
func TestDenialsAreRememberedPerKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asker := routing.NewAsker(poolOf("a"))
		var asked atomic.Int64
		ask := func(key string) error {
			_, err := asker.Ask(t.Context(), routing.Question{Key: key, Ask: func(context.Context, *routing.Upstream) routing.Verdict {
				asked.Add(1)
				return routing.Denies
			}})
			return err
		}
		for _, step := range []struct {
			wait time.Duration
			key  string
			want int64
		}{
			{0, "one", 1},
			{0, "one", 1},
			{time.Second, "other", 2},
			{3 * time.Second, "one", 2},
			{time.Second, "one", 3},
		} {
			time.Sleep(step.wait)
			if err := ask(step.key); !errors.Is(err, routing.ErrDenied) {
				t.Errorf("Ask: got %v, want ErrDenied", err)
			}
			if got := asked.Load(); got != step.want {
				t.Errorf("questions so far: got %d, want %d", got, step.want)
			}
		}
	})
}

// Nothing but a denial is remembered: who did not answer may answer now.
func TestSilenceIsNotRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asker := routing.NewAsker(poolOf("a"))
		if _, err := asker.Ask(t.Context(), question("id", nil)); !errors.Is(err, routing.ErrUnclear) {
			t.Errorf("Ask: got %v, want ErrUnclear", err)
		}
		if u, err := asker.Ask(t.Context(), question("id", map[string]routing.Verdict{"a": routing.Knows})); err != nil || u.Name != "a" {
			t.Errorf("Ask again: got %v, %v, want a", u, err)
		}
	})
}
