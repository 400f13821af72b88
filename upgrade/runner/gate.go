package runner

import "sync/atomic"

// gate is a mutex that is held while others are waited for: whoever waits for it waits at a channel. Where nobody does, it is
// one number. next is to be made.
type gate struct {
	in   atomic.Int32  // who holds it, and who waits
	next chan struct{} // has room for one: what Unlock hands on
}

func (g *gate) Lock() {
	if g.in.Add(1) > 1 {
		<-g.next
	}
}

func (g *gate) Unlock() {
	if g.in.Add(-1) > 0 {
		g.next <- struct{}{}
	}
}

func (g *gate) TryLock() bool { return g.in.CompareAndSwap(0, 1) }
