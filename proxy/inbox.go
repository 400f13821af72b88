package proxy

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
)

// inbox holds what the streams that subscribers share have for one of them, until its
// client has taken it. A slow client holds up nobody else: notifications are hints,
// and of equal ones that wait one is as good as many.
type inbox struct {
	wake chan struct{} // holds one while there is something to take

	mu     sync.Mutex // guards the fields below
	events []legEvent
	full   bool
}

// maxInbox bounds what waits for one client. A client that is further behind has to
// begin anew, and then to read anew what it was to be told of.
const maxInbox = 256

// errClientBehind ends the stream of a client that took nothing for too long.
var errClientBehind = fmt.Errorf("%w: too much waits for it", errClientGone)

func newInbox() *inbox { return &inbox{wake: make(chan struct{}, 1)} }

func (b *inbox) post(e legEvent) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e.raw != nil && slices.ContainsFunc(b.events, func(other legEvent) bool { return bytes.Equal(other.raw, e.raw) }) {
		return
	}
	if len(b.events) < maxInbox {
		b.events = append(b.events, e)
	} else {
		b.full = true
	}
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// take returns what waits, in its order. The error is errClientBehind.
func (b *inbox) take() ([]legEvent, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.full {
		return nil, errClientBehind
	}
	events := b.events
	b.events = nil
	return events, nil
}
