package queues

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// Lines of sessions come and go with instances: what was known of one is forgotten once nobody waits there, or asks.
func TestLinesThatNobodyAsksForAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(nil, within)
		for i := range 100 {
			line := fmt.Sprint("queue@", i)
			q.begin(line)
			q.keep(line, newLine([]string{"task A 7"}), time.Now())
			q.round(line, "A", 7)
		}
		q.begin("away")
		q.giveUp("away")
		q.begin("slow")
		_, _, _ = q.Await("queue@1", "task", 1)
		time.Sleep(within)
		if round := q.round("queue@2", "A", 0); round != 9 {
			t.Errorf("the next round is %d", round)
		}
		time.Sleep(remembered)
		q.begin("queue@3")
		if len(q.read) != 3 || q.read["queue@1"] == nil || q.read["slow"] == nil || len(q.given) > 0 {
			t.Errorf("%d lines are known, and rounds of %d", len(q.read), len(q.given))
		}
		q.keep("slow", newLine(nil), time.Now())
	})
}
