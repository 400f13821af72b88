package upgrade

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A task that is answered as its berth goes stays listed as that one's, so that another one finds it though nobody asks for it any more.
func TestTaskThatIsAnsweredAsItsBerthGoesIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		berths := startBerths(t, 2, settings{}, up)
		b, other := berths[0], berths[1]
		time.Sleep(2 * testLease)
		asking := b.hand(t, rule(nil), "asking ask:k hang")
		b.hand(t, rule(queueing), "running result/1m")
		b.hand(t, rule(queueing), "queued result/1s")
		synctest.Wait()
		b.mustState(t, asking, InputRequired)
		var listing bool
		b.line.refuse(func(op, key string) bool {
			listing = listing || op == "keep" && strings.HasSuffix(key, b.ledger.Lists.TasksOf(b.ledger.Holder))
			return false
		})
		b.line.lag(func() (late time.Duration) {
			if listing {
				late, listing = patience, false
			}
			return late
		})
		go func() { _ = b.Steps.Update(t.Context(), asking, somebody, inputs("k", "1"), &Envelope{Bare: true}) }()
		synctest.Wait()
		b.leave(t)
		time.Sleep(patience + 10*time.Millisecond)
		b.kill()
		time.Sleep(10 * testLease)
		if e, err := other.ledger.Records.Get(t.Context(), asking); err != nil || e.Holder == b.ledger.Holder {
			t.Errorf("it is %s, held by %q: %v", e.State, e.Holder, err)
		}
	})
}
