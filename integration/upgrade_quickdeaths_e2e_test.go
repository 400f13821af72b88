//go:build e2e

package integration

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

// deathEvery is how often one of three berths is killed, each before it could have seen
// Redis be well for as long as a lease lives.
const deathEvery = 2 * time.Second

// deathLease is the lease of berths that die so often.
const deathLease = 6 * time.Second

// deathPromise is what is promised of their tasks; a busy machine has as much again.
const deathPromise = deathLease * 5 / 3

// The tasks of a berth that was killed end after its lease and two thirds of it, though no
// berth lives for much longer than a lease.
func TestTasksOfBerthsThatDieSoonEndInTime(t *testing.T) {
	const deaths, each = 12, 5
	h := newHolders(t, sharedStore(t), "", heldRules)
	h.config = h.reconfigured(t, `holder_lease = "`+holderLease, fmt.Sprintf("holder_lease = %q\n# \"", deathLease))
	live := []*watched{h.start(t), h.start(t), h.start(t)}
	var mu sync.Mutex // guards the fields below
	var took []time.Duration
	var following sync.WaitGroup
	at := func(i int) *watched { mu.Lock(); defer mu.Unlock(); return live[i%3] }
	next := time.NewTicker(deathEvery)
	defer next.Stop()
	for death := range deaths {
		dies := at(death)
		tasks := h.hold(t, dies, each)
		<-next.C
		dies.kill()
		died := time.Now()
		for i, task := range tasks {
			following.Go(func() {
				if !await(t, 2*deathPromise, func() bool {
					s, ok := h.look(t, at(i+int(time.Since(died)/time.Second)), task)
					return ok && s.lost(true) || t.Failed()
				}) {
					t.Errorf("%s does not end", task.call)
				}
				mu.Lock()
				defer mu.Unlock()
				took = append(took, time.Since(died))
			})
		}
		fresh := h.start(t)
		mu.Lock()
		live[death%3] = fresh
		mu.Unlock()
	}
	following.Wait()
	slices.Sort(took)
	t.Logf("%d tasks of %d dead berths ended after %v, half of them, and %v; promised are %v", len(took), deaths,
		took[len(took)/2].Round(time.Millisecond), took[len(took)-1].Round(time.Millisecond), deathPromise)
	h.tool.wantNoneTwice(t)
}
