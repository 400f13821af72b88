package trouble

import (
	"strings"
	"sync"
	"time"
)

// Recently is how long ago what counts as recent has happened at most.
const Recently = slot * slots

const (
	mostEvents = 200 // of a kind that are kept
	mostText   = 256 // bytes of one text in them

	slot  = 10 * time.Second // what happened within is counted together
	slots = 30               // in five minutes
)

// page keeps the events of one kind.
type page struct {
	mu     sync.Mutex // guards the fields below
	count  int64
	last   time.Time
	recent [slots]struct{ began, count int64 } // by when they began, in numbers of slots since 1970
	ring   []Event
	next   int // where the ring goes on once it is full
}

func (p *page) add(e Event) {
	began := e.At.UnixNano() / int64(slot)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count, p.last = p.count+1, e.At
	now := &p.recent[began%slots]
	if now.began != began {
		now.began, now.count = began, 0
	}
	now.count++
	if len(p.ring) < mostEvents {
		p.ring = append(p.ring, e)
		return
	}
	p.ring[p.next] = e
	p.next = (p.next + 1) % mostEvents
}

func (p *page) number(kind Kind, at time.Time) Number {
	newest := at.UnixNano() / int64(slot)
	p.mu.Lock()
	defer p.mu.Unlock()
	n := Number{Kind: kind, Count: p.count, Last: p.last}
	for _, s := range p.recent {
		if s.began > newest-slots && s.began <= newest { // what is of later was noted before the clock was set back
			n.Recent += s.count
		}
	}
	return n
}

// events are the newest first.
func (p *page) events() []Event {
	p.mu.Lock()
	defer p.mu.Unlock()
	events := make([]Event, len(p.ring))
	for i := range p.ring {
		events[i] = p.ring[(p.next+len(p.ring)-1-i)%len(p.ring)]
	}
	return events
}

// kept is the event as it may be kept: a text that is part of a request would keep all of it in memory.
func (e Event) kept() Event {
	for _, text := range []*string{&e.Pool, &e.ID, &e.What, &e.Caller, &e.Detail} {
		*text = strings.Clone((*text)[:min(len(*text), mostText)])
	}
	return e
}
