package proxy_test

import (
	"net/http"
	"testing"

	"berth/upgrade"
)

// A caller whose tasks keep as much as they may is refused, of whatever kind its call is;
// another one goes on, and all may poll.
func TestWhoKeepsTooMuchIsRefused(t *testing.T) {
	for name, callers := range map[string]struct {
		options    rigOptions
		one, other []string
	}{
		"principals": {rigOptions{principals: true}, []string{userHeader, "alice"}, []string{userHeader, "bob"}},
		"addresses":  {rigOptions{principals: true}, []string{"X-Forwarded-For", "192.0.2.1"}, []string{"X-Forwarded-For", "192.0.2.2"}},
	} {
		t.Run(name, func(t *testing.T) {
			callers.options.kept = upgrade.Bounds{TasksPerCaller: 2}
			f := newUpgraded(t, callers.options, nil)
			f.answers(sayResult(done))
			id := f.made(callers.one...)
			f.made(callers.one...)
			f.eventually("two rounds", func() bool { return len(f.seen.of("tools/call")) == 2 })
			for _, more := range [][]string{nil, {"Idempotency-Key", "k"}} {
				f.callTool(append(more, callers.one...)...).fails(t, http.StatusTooManyRequests, -31429, "too_much_kept", true)
			}
			f.made(callers.other...)
			if r := f.modern("tasks/get", id, byID(id), callers.one...); r.status != http.StatusOK || r.message(t).Error != nil {
				t.Errorf("a poll: %v", r)
			}
		})
	}
}
