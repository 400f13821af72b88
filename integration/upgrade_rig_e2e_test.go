//go:build e2e

package integration

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"berth/internal/storage/redistest"
)

// startBehindRelay starts one more berth, whose line to Redis a relay can worsen.
func (h *holders) startBehindRelay(t testing.TB, redis *redistest.Server) (*watched, *redistest.Relay) {
	t.Helper()
	relay := &redistest.Relay{}
	return h.startBehind(t, relay, redis), relay
}

func (h *holders) startBehind(t testing.TB, relay *redistest.Relay, redis *redistest.Server) *watched {
	t.Helper()
	relay.Start(t, redis.Addr)
	b := startWatched(t, h.fleet.fleet, "--config", h.config, "--store", "redis://"+relay.Addr()+"/0")
	b.awaitReadyz(t, storeOK)
	h.berths = append(h.berths, b)
	return b
}

// makeWhileItLives makes up to n tasks of "work" through a berth that may die meanwhile.
func (h *holders) makeWhileItLives(t testing.TB, b *watched, n int, made chan<- heldTask) {
	t.Helper()
	first := h.made
	h.made += n
	crowd(t, n, 4, func(i int) {
		call := fmt.Sprintf("work-%d", first+i)
		if got, err := h.call(t, b, "work", call); err == nil && got.Result.TaskID != "" {
			made <- heldTask{got.Result.TaskID, call}
		}
	})
}

// late counts the outcomes that a berth has dropped.
func (b *watched) late(t testing.TB) int {
	t.Helper()
	return b.metric(t, "berth_upgrade_late_results_total")
}

// authorize has berths to come send what is their own in place of a client's
// Authorization. The fleet is a pool of the file then.
func (h *holders) authorize(t testing.TB, own string) {
	t.Helper()
	pool := fmt.Sprintf("[[pools]]\nauthorization = \"replace\"\nauthorization_value = %q\n", own)
	for _, i := range h.fleet.fleet {
		pool += fmt.Sprintf("[[pools.upstreams]]\nname = %q\nurl = %q\n", i.name, i.url())
	}
	h.config = h.reconfigured(t, "[store]", pool+"[store]")
	h.pooled = true
}

// orphans counts the tasks that a berth has failed because their holder was gone.
func (b *watched) orphans(t testing.TB) int {
	t.Helper()
	return b.metric(t, "berth_upgrade_orphans_total")
}

// reconfigured is a file like that of the berths, with one thing in place of another.
func (h *holders) reconfigured(t testing.TB, this, that string) (path string) {
	t.Helper()
	text, err := os.ReadFile(h.config)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), this) {
		t.Fatalf("the configuration has no %q", this)
	}
	return configFile(t, strings.Replace(string(text), this, that, 1))
}
