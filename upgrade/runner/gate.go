package runner

import "sync/atomic"

// gate is a mutex that is held while others are waited for: whoever waits for it waits at a channel. Where nobody does, it is
// one number. The zero value is ready.
type gate struct {
	in   atomic.Int32 // who holds it, and who waits
	next atomic.Pointer[chan struct{}]
}

func (g *gate) Lock() {
	if g.in.Add(1) > 1 {
		<-g.turn()
	}
}

func (g *gate) Unlock() {
	if g.in.Add(-1) > 0 {
		g.turn() <- struct{}{}
	}
}

// turn has room for one: what Unlock hands on. It is made once somebody waits.
func (g *gate) turn() chan struct{} {
	if next := g.next.Load(); next != nil {
		return *next
	}
	next := make(chan struct{}, 1)
	g.next.CompareAndSwap(nil, &next)
	return *g.next.Load()
}

func (g *gate) TryLock() bool { return g.in.CompareAndSwap(0, 1) }
