// Package gate is a mutex that is held while others are waited for: whoever waits for it waits at a channel, as those wait who are
// waited for. Where nobody does, it is one number.
package gate

import "sync/atomic"

// Mutex is held by one at a time. The zero value is free.
type Mutex struct {
	in   atomic.Int32 // who holds it, and who waits
	next atomic.Pointer[chan struct{}]
}

// Lock waits until m is free, and holds it.
func (m *Mutex) Lock() {
	if m.in.Add(1) > 1 {
		<-m.turn()
	}
}

// Unlock hands m on to one who waits.
func (m *Mutex) Unlock() {
	if m.in.Add(-1) > 0 {
		m.turn() <- struct{}{}
	}
}

// turn has room for one: what Unlock hands on. It is made once somebody waits.
func (m *Mutex) turn() chan struct{} {
	if next := m.next.Load(); next != nil {
		return *next
	}
	next := make(chan struct{}, 1)
	m.next.CompareAndSwap(nil, &next)
	return *m.next.Load()
}

// TryLock holds m if it is free, and reports whether it was.
func (m *Mutex) TryLock() bool { return m.in.CompareAndSwap(0, 1) }
