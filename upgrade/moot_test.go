package upgrade

import (
	"context"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"berth/routing"
)

// Who polls a task whose client is asked has it looked at, now and then, whether anybody waits for the answer. Where nobody does the task
// goes on without it, in the name of who polled.
func TestATaskWhoseAnswerNobodyWaitsForGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var moot atomic.Bool
		var asked []*Call
		up := newTool()
		berths := startBerths(t, 2, settings{isMoot: func(_ context.Context, _ *routing.Upstream, c *Call) bool {
			asked = append(asked, c)
			return moot.Load()
		}}, up)
		id := berths[0].hand(t, rule(nil), "call ask:k result")
		synctest.Wait()
		poll := func(by *berth) View {
			v := by.mustState(t, id, InputRequired)
			by.Steps.Doubt(&v.Task, somebody, func() Envelope { return Envelope{Header: Pairs{"Authorization", "Bearer of the poll"}} })
			synctest.Wait()
			return v
		}
		for range 31 {
			poll(berths[1])
			time.Sleep(time.Second)
		}
		if len(asked) != 3 {
			t.Fatalf("looked %d times within 31 s", len(asked))
		}
		if c := asked[0]; !strings.Contains(string(c.Body), `"requestState":"1"`) || c.Headers().Get("Authorization") != "Bearer of the poll" || c.Principal != somebody.Principal {
			t.Errorf("asked with %+v", c)
		}
		moot.Store(true)
		time.Sleep(mootEvery)
		poll(berths[1])
		v := berths[0].mustState(t, id, Completed)
		if last := up.sent(up.count() - 1).body; up.count() != 2 || !strings.Contains(last, `"requestState":"1"`) || strings.Contains(last, "inputResponses") {
			t.Errorf("the tool was called %d times, last with %s", up.count(), last)
		}
		for _, step := range v.Timeline() {
			if step.What == "moot" && step.Holder != berths[1].Holder() {
				t.Errorf("got %+v", step)
			}
		}
		berths[1].Steps.Doubt(&v.Task, somebody, nil) // it asks nothing
	})
}

// Looks are bounded, in number at once and in what is remembered of tasks.
func TestLooksAtTasksAreBounded(t *testing.T) {
	m, now := moots{next: map[string]time.Time{}}, time.Now()
	for i := range mootTasks + 100 {
		m.begin(name(i), now)
	}
	if len(m.next) != mootTasks {
		t.Errorf("%d tasks are remembered", len(m.next))
	}
	now = now.Add(mootEvery)
	begun := 0
	for i := range mootTasks {
		if m.begin(name(i), now) {
			begun++
		}
	}
	if begun != mootAtOnce {
		t.Errorf("%d looks at once", begun)
	}
	m.finish()
	if !m.begin(name(mootAtOnce), now) {
		t.Error("a look that ended makes no room")
	}
	now = now.Add(time.Hour)
	m.begin("another", now)
	if m.begin("another", now); len(m.next) != 1 {
		t.Errorf("%d tasks are remembered that nobody polls", len(m.next))
	}
}

func name(i int) string { return "task-" + strconv.Itoa(i) }
