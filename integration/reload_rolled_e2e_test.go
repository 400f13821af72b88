//go:build e2e

package integration

import (
	"fmt"
	"net/http"
	"syscall"
	"testing"
)

// An upstream is taken out of the file while it owns tasks and sessions; berths that start afterwards serve these as those do that
// were there, also once none is left that the file ever told of it.
func TestBerthsThatStartServeWhatWasTakenOutOfTheFile(t *testing.T) {
	t.Parallel()
	settings := fmt.Sprintf("[store]\nurl = %q\n", redisStore(t))
	r := startReloading(t, func(r *reloading) string { return settings + r.pool("") })
	var ids []string
	var sessions []*legacyClient
	gone := r.fleet.servers[0]
	for len(ids) < 9 || gone.Calls("tools/call") == 0 && len(ids) < 90 { // which of the three is given a call is chance
		ids = append(ids, r.client.create(t, r.url(), 120).TaskID)
		sessions = append(sessions, openSession(t, r.url(), ""))
	}
	made := gone.Calls("tools/call")
	if made == 0 {
		t.Fatal("the one that is taken out owns nothing")
	}
	r.fleet.fleet = r.fleet.fleet[1:]
	r.write(t, settings+r.pool(""))
	r.hangUp(t)
	late := startWatched(t, nil, "--config", r.file)
	serves := func(b *watched) {
		t.Helper()
		for _, id := range ids {
			if got, err := r.client.poll(t, b.url(), id); err != nil || got.status != http.StatusOK || got.Result.Status != "working" {
				t.Errorf("a task: got %v, %v", got, err)
			}
		}
		for _, s := range sessions {
			if got, err := s.ask(t.Context(), b.url(), "tools/list", map[string]any{}); err != nil || got.Error != nil {
				t.Errorf("a session: got %s, %v", got.whole, err)
			}
		}
	}
	serves(late)
	r.signal(t, syscall.SIGTERM)
	r.awaitExit(t, readyWithin)
	serves(startWatched(t, nil, "--config", r.file))
	if polls, calls, denied := gone.Calls("tasks/get"), gone.Calls("tools/call"), gone.Denied("tasks/get"); polls == 0 || calls != made || denied != 0 {
		t.Errorf("the one that was taken out: %d polls, %d of them for others' tasks, and %d new calls; want its own polls alone", polls, denied, calls-made)
	}
}
