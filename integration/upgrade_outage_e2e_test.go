//go:build e2e

package integration

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/storage/redistest"
)

// longOutage is longer than a lease and the ticks after which a holder is taken for
// dead.
const longOutage = 3 * time.Second

// sharedWithin bounds how long results may take to be on all berths after Redis' return.
// The promise is two seconds; the rest is for a busy machine.
const sharedWithin = 8 * time.Second

// Redis goes, for longer than a lease, while calls are held, and some of them end
// meanwhile. No task fails for it or is called unknown, and when Redis is back, whatever
// it has lost, every berth has the results.
func TestHeldCallsOutliveTheirRedis(t *testing.T) {
	for _, fault := range []struct {
		name        string
		start       func(testing.TB) *redistest.Server
		befall, end func(*redistest.Server)
	}{
		{"killed, and back with its data", keptRedis, (*redistest.Server).Kill, restart},
		{"killed, and back empty", emptyRedis, (*redistest.Server).Kill, restart},
		{"frozen", emptyRedis, (*redistest.Server).Stop, (*redistest.Server).Cont},
		{"out of memory", emptyRedis, setting("maxmemory", "1"), setting("maxmemory", "0")},
		{"a replica without its master", emptyRedis, func(s *redistest.Server) { s.Do("REPLICAOF", "127.0.0.1", "1") }, func(s *redistest.Server) { s.Do("REPLICAOF", "NO", "ONE") }},
		{"flushed", emptyRedis, func(s *redistest.Server) { s.Do("FLUSHALL") }, func(*redistest.Server) {}},
	} {
		t.Run(fault.name, func(t *testing.T) {
			t.Parallel()
			redis := fault.start(t)
			h := startHolders(t, 2, redis.URL(), "", heldRules)
			h.outliveOutage(t, func() { fault.befall(redis) }, func() { fault.end(redis) })
		})
	}
}

// emptyRedis is one that has nothing any more after it was killed.
func emptyRedis(t testing.TB) *redistest.Server { return redistest.Start(t) }

func setting(name, value string) func(*redistest.Server) {
	return func(s *redistest.Server) { s.Do("CONFIG", "SET", name, value) }
}

func restart(s *redistest.Server) { s.Restart() }

// D9: the master dies, and a replica is promoted.
func TestHeldCallsOutliveAFailOver(t *testing.T) {
	t.Parallel()
	sentinels := redistest.StartSentinels(t, 2)
	h := startHolders(t, 2, sentinels.URL(), "durability = \"replicas:1\"\n", heldRules)
	h.outliveOutage(t, sentinels.Master().Kill, func() {
		for _, b := range h.berths {
			if !await(t, outageBound, func() bool { return strings.Contains(b.output.String(), `"store is back"`) }) {
				t.Error("no replica took over")
			}
		}
	})
}

// A replica is promoted though the master is well: few operations fail, if any.
func TestHeldCallsOutliveAPlannedFailOver(t *testing.T) {
	t.Parallel()
	sentinels := redistest.StartSentinels(t, 2)
	h := newHolders(t, sentinels.URL(), "durability = \"replicas:1\"\n", heldRules)
	// The old master takes writes until it is deposed, and the new one never hears of them:
	// leases must outlive that.
	h.config = h.reconfigured(t, `holder_lease = "`+holderLease, `holder_lease = "6s`)
	h.start(t)
	h.start(t)
	before := sentinels.Master()
	h.outliveOutage(t, sentinels.FailOver, func() {
		if !await(t, outageBound, func() bool { now := sentinels.Master(); return now != nil && now != before }) {
			t.Error("no replica took over")
		}
	})
}

// outliveOutage holds calls at two berths, lets some of them end before a fault, in it
// and after it, and wants all of them to end well.
func (h *holders) outliveOutage(t testing.TB, befall, end func()) {
	t.Helper()
	const each = 10
	all := append(h.hold(t, h.berths[0], each), h.hold(t, h.berths[1], each)...)
	early, amidst, late := all[:3], all[3:each+3], all[each+3:]
	late = append(late, h.make(t, h.berths[0], "queued", 9)...)
	h.tool.awaitRuns(t, len(all)+len(h.fleet.fleet))
	h.tool.let(names(early)...)
	h.awaitDone(t, h.berths, early)
	// A flush takes what had ended with it, and nobody has that any more.
	watching := h.watch(t, append(amidst, late...))

	befall()
	h.tool.let(names(amidst)...)
	<-time.After(longOutage)
	end()
	back := time.Now()
	for _, b := range h.berths {
		h.awaitDone(t, []*watched{b}, amidst)
	}
	took := time.Since(back)
	t.Logf("results of the outage were on all berths %v after its end", took.Round(10*time.Millisecond))
	if took > sharedWithin {
		t.Errorf("results on all berths: got after %v, want two seconds", took)
	}
	<-time.After(longOutage / 2) // for a reaper that acts by mistake
	h.tool.letAll()
	h.awaitDone(t, h.berths, late)
	watching.wait()
	h.tool.wantNoneTwice(t)
	h.tool.wantAtMost(t, "queued", 1)
	for i, b := range h.berths {
		if n := b.orphans(t); n != 0 {
			t.Errorf("berth %d: tasks failed for a dead holder: got %d, want none", i, n)
		}
	}
}

// Redis comes back with an older state, as a replica that lagged does. Running calls go on
// and keep their tasks, those that the state shows and those that it does not. A task whose
// end is lost with it ends again: it does not hang, and its tool is not run again.
func TestHeldCallsOutliveARedisThatFallsBack(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	h := startHolders(t, 2, redis.URL(), "", heldRules)
	shown := append(h.hold(t, h.berths[0], 5), h.hold(t, h.berths[1], 5)...)
	do(t, redis, "SAVE")
	ended := shown[:2]
	h.tool.let(names(ended)...)
	h.awaitDone(t, h.berths, ended)
	live := append(shown[2:], h.hold(t, h.berths[0], 5)...)
	watching := h.watch(t, live)

	redis.Restart()
	h.awaitEach(t, h.berths, ended, "ended", func(_ heldTask, s seen) bool { return s.ended() })
	<-time.After(longOutage / 2) // for a reaper that acts by mistake
	h.tool.letAll()
	h.awaitDone(t, h.berths, live)
	watching.wait()
	h.wantOneEnd(t, h.berths, append(live, ended...))
	h.tool.wantNoneTwice(t)
}

func names(tasks []heldTask) (calls []string) {
	for _, task := range tasks {
		calls = append(calls, task.call)
	}
	return calls
}

// watch polls tasks through any berth until it is stopped. The test fails if one is shown
// as failed, is called unknown, or goes back on its end.
func (h *holders) watch(t testing.TB, tasks []heldTask) *watching {
	w := &watching{stop: make(chan struct{})}
	t.Cleanup(w.wait)
	for range 4 {
		w.running.Go(func() {
			pause := time.NewTicker(pollPause)
			defer pause.Stop()
			for !t.Failed() {
				select {
				case <-w.stop:
					return
				case <-pause.C:
				}
				task := tasks[rand.IntN(len(tasks))]
				if s, ok := h.look(t, h.berths[rand.IntN(len(h.berths))], task); ok && s.Status != "working" && s.Status != "completed" {
					t.Errorf("%s: got %s, want it working or completed", task.call, s.object)
				}
			}
		})
	}
	return w
}

type watching struct {
	stop    chan struct{}
	once    sync.Once // closes stop
	running sync.WaitGroup
}

func (w *watching) wait() {
	w.once.Do(func() { close(w.stop) })
	w.running.Wait()
}

// Replies of Redis are lost after it did what it was told. Each step is taken again, and
// none twice.
func TestStepsWhoseRepliesAreLostAreTakenOnce(t *testing.T) {
	t.Parallel()
	const tasks, rounds = 40, 20
	redis := redistest.Start(t)
	h := newHolders(t, redis.URL(), "", strings.ReplaceAll(heldRules, `tools = ["work"]`, "tools = [\"work\"]\non_store_down = \"refuse\""))
	// A lease that lives longer than a run of lost renewals: who cannot renew it is rightly
	// taken for dead.
	h.config = h.reconfigured(t, `holder_lease = "`+holderLease, `holder_lease = "30s`)
	lossy, relay := h.startBehindRelay(t, redis)
	other := h.start(t)
	h.tool.letAll()
	relay.LoseOneIn.Store(8)
	var all []heldTask
	for range rounds { // while the store is taken for down, none is made
		made := make(chan heldTask, tasks)
		h.makeWhileItLives(t, lossy, tasks, made)
		close(made)
		for task := range made {
			all = append(all, task)
		}
		if len(all) >= tasks {
			break
		}
		<-time.After(longOutage / 10)
	}
	if len(all) < tasks/2 {
		t.Fatalf("tasks made: got %d, want %d or so", len(all), tasks)
	}
	h.awaitDone(t, []*watched{other}, all)
	relay.LoseOneIn.Store(0)
	t.Logf("%d tasks, %d replies lost", len(all), relay.Lost())
	if relay.Lost() == 0 {
		t.Error("no reply was lost")
	}
	h.wantOneEnd(t, h.berths, all)
	h.tool.wantNoneTwice(t)
}
