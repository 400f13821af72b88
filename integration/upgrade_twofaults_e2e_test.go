//go:build e2e

package integration

import (
	"syscall"
	"testing"
	"time"

	"berth/internal/storage/redistest"
)

// keptRedis is a Redis that has all its data after it was killed.
func keptRedis(t testing.TB) *redistest.Server {
	return redistest.Start(t, "--appendonly", "yes", "--appendfsync", "always")
}

// A holder dies while Redis is away: when that is back its tasks end, those of the others
// go on.
func TestTasksOfABerthThatDiesInAnOutageEndAfterIt(t *testing.T) {
	t.Parallel()
	redis := keptRedis(t)
	h := startHolders(t, 3, redis.URL(), "", heldRules)
	orphaned, live := h.hold(t, h.berths[0], 10), h.hold(t, h.berths[1], 10)
	others := h.berths[1:]
	redis.Kill()
	h.berths[0].kill()
	<-time.After(longOutage)
	redis.Restart()
	h.awaitLost(t, others, orphaned, true)
	h.tool.letAll()
	h.awaitDone(t, others, live)
	h.tool.wantNoneTwice(t)
}

// SIGTERM while Redis is away: berth does not wait for it longer than it has time to
// drain, and the tasks end when Redis is back.
func TestBerthThatIsTerminatedInAnOutageEndsInTime(t *testing.T) {
	t.Parallel()
	redis := keptRedis(t)
	h := startHolders(t, 2, redis.URL(), "", heldRules)
	leaving, other := h.berths[0], h.berths[1:]
	held := h.hold(t, leaving, 100)
	redis.Kill()
	h.tool.let(names(held[:50])...)
	leaving.signal(t, syscall.SIGTERM)
	leaving.awaitUnready(t)
	leaving.awaitExit(t, 2*time.Second+lastWords)
	redis.Restart()
	h.awaitLost(t, other, held, true)
	h.awaitHungUp(t, held[50:])
	h.tool.wantNoneTwice(t)
}

// After an outage that all leases ran out in, one holder is back later than the others,
// who find its lease gone meanwhile. It keeps its tasks.
func TestHolderThatIsBackLaterThanOthersKeepsItsTasks(t *testing.T) {
	t.Parallel()
	redis := keptRedis(t)
	h := newHolders(t, redis.URL(), "", heldRules)
	h.config = h.reconfigured(t, `holder_lease = "`+holderLease, `holder_lease = "3s`)
	late, relay := h.startBehindRelay(t, redis)
	other := h.start(t)
	held := h.hold(t, late, 10)
	redis.Kill()
	relay.Drop.Store(true)
	<-time.After(longOutage + time.Second) // longer than the lease
	redis.Restart()
	<-time.After(longOutage - time.Second/2) // longer than two ticks
	relay.Drop.Store(false)
	relay.Cut()              // what was thrown away is missing from the connections that stood
	<-time.After(longOutage) // for a reaper that acts by mistake
	h.tool.letAll()
	h.awaitDone(t, []*watched{other}, held)
	h.tool.wantNoneTwice(t)
}
