package proxy_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A subscription is told of each question that a server's task puts in the place of another, or words anew, and of nothing else.
func TestSubscriptionHearsThatAFollowedTaskAsksSomethingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{}, nil)
		server := theirState{asking: form("a", "first")}
		f.serves(map[string]faultFunc{"tools/call": sayResult(theirHandle), "tasks/get": server.tell})
		id := f.made("Authorization", "Bearer one")
		f.reaches(id, "input_required", "Authorization", "Bearer one")
		s := f.subscribe("7", tasksFilter("", id), "Authorization", "Bearer one")
		for _, c := range []struct{ key, says string }{{"b", "second"}, {"b", "third"}} {
			server.becomes(asksFor(form(c.key, c.says)))
			time.Sleep(time.Minute)
			synctest.Wait()
			heard := s.heard()
			if last := heard[len(heard)-1].raw; !strings.Contains(last, c.says) {
				t.Errorf("told last of %s, want %q", last, c.says)
			}
		}
		if n := len(s.statuses()); n != 3 {
			t.Errorf("told %d times, want 3", n)
		}
	})
}
