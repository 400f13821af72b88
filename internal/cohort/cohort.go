// Package cohort has requests that are ready to run at the same time take the same step one after the other (cohort scheduling: Larus and
// Parkes, "Using Cohort Scheduling to Enhance Server Performance", USENIX 2002). Where each took all of its steps at once, those who
// read what it writes would fall asleep between two writes, and the kernel has whoever writes pay for waking them. What many write one
// right after the other finds its readers awake, and the code of a step in the caches.
//
// A gate stands between two steps. Who passes it lets others run, but only where looks have told that others come to the same gate
// meanwhile, and soon: one pass in 64 looks. One that nobody follows costs some 20 ns; one that others follow 0.2 µs, and what those who are
// ready take for their steps. No request waits for another to come. A cohort is bounded, since what its requests have in hand is to be in
// the caches as well when they go on: whoever comes to a gate at which as many stand goes on at once.
//
// Cohorts are formed by one or two processors. Go lets others run by a queue that all processors have in common: with more of them, most
// requests would leave the caches that they are in.
package cohort

import (
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"time"
)

const (
	seldom     = 64                     // one pass of these looks whether others follow
	sure       = 3                      // how sure a gate can be; beyond half of it others are let run
	processors = 2                      // that form cohorts at most
	most       = 32                     // that stand at a gate
	step       = 250 * time.Microsecond // more than one who follows takes
)

// Gate stands between two steps of requests. The zero value is ready. Its method may be called concurrently.
type Gate struct {
	followed atomic.Int32  // how sure it is that others follow who passes: 0 to sure
	looking  atomic.Bool   // somebody counts those who pass
	passed   atomic.Uint32 // while he does
	standing atomic.Int32  // who let others run, and do not run yet themselves
}

// Pass returns at once, or once those who are ready to run have come to a gate, or wait, or are done.
func (g *Gate) Pass() {
	if g.looking.Load() {
		g.passed.Add(1)
	}
	switch {
	case rand.Uint32()%seldom == 0:
		g.look()
	case g.followed.Load() > sure/2 && g.standing.Load() < most:
		g.standing.Add(1)
		runtime.Gosched()
		g.standing.Add(-1)
	}
}

// look lets others run, and takes note whether any of them have passed.
func (g *Gate) look() {
	n := runtime.GOMAXPROCS(0)
	if n > processors {
		g.followed.Store(0)
		return
	}
	if !g.looking.CompareAndSwap(false, true) {
		return
	}
	before, began := g.passed.Load(), time.Now()
	runtime.Gosched()
	g.note(follow(g.passed.Load()-before, n, time.Since(began)))
	g.looking.Store(false)
}

// follow reports whether others follow who looks, by how many have passed in that time. As many as there are other processors may have
// run there anyway; and where it takes long, who looks has let other work run, which requests are not to wait for.
func follow(passed uint32, processors int, took time.Duration) bool {
	return passed >= uint32(processors) && took <= time.Duration(passed)*step
}

// note takes note of what a look has told. Looks are not concurrent.
func (g *Gate) note(followed bool) {
	change := int32(-1)
	if followed {
		change = 1
	}
	g.followed.Store(min(max(g.followed.Load()+change, 0), sure))
}
