package subscribe

import (
	"fmt"
	"hash/maphash"
	"sync"

	"berth/proxy/fault"
)

// inbox holds what the streams that subscribers share have for one of them, until its
// client has taken it. A slow client holds up nobody else: notifications are hints,
// and of equal ones that wait one is as good as many.
type inbox struct {
	wake chan struct{} // holds one while there is something to take
	seed maphash.Seed  // keeps upstreams from making notifications that are taken for equal

	mu      sync.Mutex // guards the fields below
	reports []report
	waiting map[uint64]bool // hashes of the notifications among reports
	size    int             // of reports, in bytes
	full    bool
}

const (
	// maxInbox bounds what waits for one client, in bytes: some thousands of hints. A
	// client that takes them at once may well find that many, after an instance changed
	// all it has. One that is further behind has to begin anew, and then to read anew
	// what it was to be told of.
	maxInbox = 1 << 20

	// reportSize is what a report takes besides its notification.
	reportSize = 64
)

// errClientBehind ends the stream of a client that took nothing for too long.
var errClientBehind = fmt.Errorf("%w: too much waits for it", fault.ErrClientGone)

func newInbox() *inbox {
	return &inbox{wake: make(chan struct{}, 1), seed: maphash.MakeSeed()}
}

// filled holds one while there is something to take; a nil inbox stays empty.
func (b *inbox) filled() <-chan struct{} {
	if b == nil {
		return nil
	}
	return b.wake
}

func (b *inbox) post(e report) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e.raw != nil && !b.isNew(e.raw) {
		return
	}
	if b.size += reportSize + len(e.raw); b.size <= maxInbox {
		b.reports = append(b.reports, e)
	} else {
		b.full = true
	}
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// isNew reports whether no equal notification waits, and notes that this one does. b.mu must
// be held.
func (b *inbox) isNew(notification []byte) bool {
	hash := maphash.Bytes(b.seed, notification)
	if b.waiting[hash] {
		return false
	}
	if b.waiting == nil {
		b.waiting = make(map[uint64]bool)
	}
	b.waiting[hash] = true
	return true
}

// take returns what waits, in its order. The error is errClientBehind.
func (b *inbox) take() ([]report, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.full {
		return nil, errClientBehind
	}
	reports := b.reports
	b.reports, b.waiting, b.size = nil, nil, 0
	return reports, nil
}
