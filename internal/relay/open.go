package relay

import (
	"sync"
	"sync/atomic"
	"time"
)

// openExchange is one that is under way, as this berth hears of it.
type openExchange struct {
	count atomic.Int64  // parts that the other side has written, or read
	woken chan struct{} // holds one wake-up for who waits for more
	end   func(cause error)
}

// rise notes that the other side has come to n.
func (e *openExchange) rise(n int) {
	for known := e.count.Load(); int64(n) > known; known = e.count.Load() {
		if e.count.CompareAndSwap(known, int64(n)) {
			break
		}
	}
	e.wake()
}

func (e *openExchange) wake() {
	select {
	case e.woken <- struct{}{}:
	default: // the one that waits there will do
	}
}

// openExchanges are a mailbox's, by id. The zero value has none.
type openExchanges struct {
	mu   sync.Mutex // guards the field below
	byID map[string]*openExchange
}

// add adds one that end calls off, and must not wait.
func (o *openExchanges) add(id string, end func(cause error)) *openExchange {
	e := &openExchange{woken: make(chan struct{}, 1), end: end}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.byID == nil {
		o.byID = make(map[string]*openExchange)
	}
	o.byID[id] = e
	return e
}

func (o *openExchanges) remove(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.byID, id)
}

func (o *openExchanges) rise(id string, n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if e := o.byID[id]; e != nil {
		e.rise(n)
	}
}

func (o *openExchanges) wakeAll() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range o.byID {
		e.wake()
	}
}

func (o *openExchanges) endAll(cause error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range o.byID {
		e.end(cause)
	}
}

// pace is how long to wait before the next look for what nobody has told of.
type pace struct{ pause time.Duration }

const (
	paceFirst = time.Second
	paceMost  = 5 * time.Second
)

func (p *pace) next() time.Duration {
	p.pause = min(max(p.pause*3/2, paceFirst), paceMost)
	return p.pause
}
