//go:build e2e

package integration

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"berth/internal/storage/redistest"
)

// insistent is a server whose tool asks once more when it has an answer: its call outlives
// an outage that the answer comes in.
var insistent = func() askingServer {
	s := demoServer
	s.name += ", which asks twice"
	s.asking = func(call string) toolUse {
		u := askingErrand(call)
		u.arguments["asks"], u.asks = []string{"elicitation", "elicitation"}, 2
		return u
	}
	return s
}()

// Redis goes while calls in sessions ask their clients. Nothing fails for it or is called
// unknown; answers that are given meanwhile count, and what is still asked is asked again.
func TestCallsOfSessionsOutliveTheirRedis(t *testing.T) {
	for _, fault := range []struct {
		name        string
		args        []string
		befall, end func(*redistest.Server)
	}{
		{"killed, and back with its data", []string{"--appendonly", "yes", "--appendfsync", "always"}, (*redistest.Server).Kill, restart},
		{"killed, and back empty", nil, (*redistest.Server).Kill, restart},
		{"frozen", nil, (*redistest.Server).Stop, (*redistest.Server).Cont},
		{"flushed", nil, func(s *redistest.Server) { s.Do("FLUSHALL") }, func(*redistest.Server) {}},
	} {
		for _, server := range []askingServer{askingServers[0], askingServers[3], insistent} {
			t.Run(fault.name+"/"+server.name, func(t *testing.T) {
				t.Parallel()
				h := newSessionHolders(t, server, 1, sealed(), fault.args...)
				h.start(t)
				h.start(t)
				client := openSession(t, h.berths[0].url(), "alice")
				var uses []heldUse
				for i := range 6 {
					uses = append(uses, h.use(t, client, h.berths[i%2], fmt.Sprintf("asks-%d", i), server.asking))
				}
				for i := range 2 {
					uses = append(uses, h.use(t, client, h.berths[i], fmt.Sprintf("works-%d", i), server.slow))
				}
				asked := make([]legacyMessage, 4)
				for i := range asked {
					uses[i].awaitStatus(t, h.berths[i%2], "input_required")
					asked[i] = uses[i].shown(t, h.berths[i%2])
				}
				watching := h.watchUses(t, uses)
				fault.befall(h.redis)
				for i := range asked {
					if status, err := client.post(t.Context(), h.berths[i/2].url(), answerTo(asked[i], uses[i].task)); status != 202 {
						t.Errorf("%s: an answer in the outage: got %d, %v, want 202", uses[i].call, status, err)
					}
					uses[i].asks--
				}
				<-time.After(longOutage)
				fault.end(h.redis)
				<-time.After(longOutage / 2) // for a reaper that acts by mistake
				attendAll(t, uses, h.berths...)
				watching.wait()
				h.wantOnce(t, len(uses))
				for _, b := range h.berths {
					b.wantAdopted(t, 0)
				}
			})
		}
	}
}

// watchUses polls tasks through any berth until it is stopped. The test fails if one is
// shown as anything but under way or completed.
func (h *sessionHolders) watchUses(t testing.TB, uses []heldUse) *watching {
	w := &watching{stop: make(chan struct{})}
	t.Cleanup(w.wait)
	for range 2 {
		w.running.Go(func() {
			pause := time.NewTicker(pollPause)
			defer pause.Stop()
			for !t.Failed() {
				select {
				case <-w.stop:
					return
				case <-pause.C:
				}
				u := uses[rand.IntN(len(uses))]
				view, got, err := u.client.look(t.Context(), h.berths[rand.IntN(len(h.berths))].url(), u.task)
				switch {
				case err == nil && (view.Status == "failed" || view.Status == "cancelled"), got.Error != nil && !passing(got):
					t.Errorf("%s: got %s, want it under way or completed", u.call, got.whole)
				}
			}
		})
	}
	return w
}
