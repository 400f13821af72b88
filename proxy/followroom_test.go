package proxy_test

import (
	"strings"
	"testing"
	"testing/synctest"
)

// A server's task takes room for what it says only while that is read: neither while it works on nor while its client is asked do the
// large answers of other calls wait for it.
func TestFollowedTaskGivesItsRoomBack(t *testing.T) {
	large := strings.Repeat("x", 100<<10)
	result := strings.Replace(done, "done", large, 1)
	for name, c := range map[string]struct{ says, status string }{
		"works": {theirs("working", `,"statusMessage":"`+large+`"`), "working"},
		"asks":  {asksFor(form("k2", large)), "input_required"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newUpgraded(t, rigOptions{unsaved: 1}, nil)
				server := theirState{asking: form("k", "?")}
				f.serves(map[string]faultFunc{
					"tools/call": inTurnSay(theirHandle, result), "tasks/get": server.tell, "tasks/update": sayResult(`{"resultType":"complete"}`),
				})
				id := f.made()
				f.reaches(id, "input_required")
				server.becomes(c.says)
				f.answer(id, `{"k":{"action":"accept"}}`)
				f.reaches(id, c.status)
				other := f.made()
				f.reaches(other, "completed")
			})
		})
	}
}
