package mcptest

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// A parting is how a server ends a connection whose stream goes on.
type parting int

const (
	stay   parting = iota
	hangUp         // the answer ends as it should, without the response
	cut            // the connection breaks
)

// A feed is the event stream that answers one POST. It outlives its connections: what is
// said while nobody listens is kept for who resumes it. A nil feed says nothing.
type feed struct {
	name  string        // before the number in the event ids; "" for a feed that has none, and is not resumed
	retry time.Duration // told in the priming event; 0: not told

	mu       sync.Mutex // guards the fields below
	events   [][]byte   // the data of each; the priming event has none
	over     bool       // nothing more comes
	attached bool       // a connection stands
	part     parting    // asked of the connection that stands
	partAt   int        // events that it still gets
	changed  chan struct{}
}

// say adds a message, unless the feed is over.
func (f *feed) say(m message) {
	if f == nil {
		return
	}
	f.add(encode(m))
}

// prime adds an event without data (2025-11-25 transports, "Sending Messages to the
// Server", item 6).
func (f *feed) prime() { f.add(nil) }

func (f *feed) add(data []byte) {
	f.change(func() {
		if !f.over {
			f.events = append(f.events, data)
		}
	})
}

// end lets connections end after what was said.
func (f *feed) end() { f.change(func() { f.over = true }) }

// has reports whether the feed has an event of that number.
func (f *feed) has(n int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return 0 <= n && n < len(f.events)
}

// leave ends the connection that stands, after what was said until now. It reports
// whether there was one.
func (f *feed) leave(how parting) (stood bool) {
	if f == nil {
		return false
	}
	f.change(func() {
		if stood = f.attached; stood {
			f.part, f.partAt = how, len(f.events)
		}
	})
	return stood
}

// attach takes the feed for one connection. It fails while another one stands.
func (f *feed) attach() (ok bool) {
	f.change(func() {
		if ok = !f.attached; ok {
			f.attached, f.part = true, stay
		}
	})
	return ok
}

func (f *feed) detach() { f.change(func() { f.attached = false }) }

func (f *feed) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	if f.changed != nil {
		close(f.changed)
		f.changed = nil
	}
}

// since returns the events after the first n, whether the connection ends with them, and
// how, and what is closed when there is more.
func (f *feed) since(n int) (events [][]byte, last bool, how parting, more <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.changed == nil {
		f.changed = make(chan struct{})
	}
	if f.part != stay {
		return slices.Clone(f.events[min(n, f.partAt):f.partAt]), true, f.part, f.changed
	}
	return slices.Clone(f.events[n:]), f.over, stay, f.changed
}

// serve writes the events after the first n, and what follows them, to a connection that
// attach has let in.
func (f *feed) serve(w http.ResponseWriter, r *http.Request, n int, closed <-chan struct{}) {
	defer f.detach()
	stream := openStream(w, f.name)
	for {
		events, last, how, more := f.since(n)
		for _, data := range events {
			stream.write(f.event(n, data))
			n++
		}
		if how == cut {
			panic(http.ErrAbortHandler)
		}
		if last {
			return
		}
		select {
		case <-more:
		case <-r.Context().Done():
			return
		case <-closed:
			return
		}
	}
}

// event is the n-th one, as it is written.
func (f *feed) event(n int, data []byte) []byte {
	var out []byte
	if f.name != "" {
		out = fmt.Appendf(out, "id: %s_%d\n", f.name, n)
	}
	if len(data) == 0 && f.retry > 0 {
		out = fmt.Appendf(out, "retry: %d\n", f.retry.Milliseconds())
	}
	return fmt.Appendf(out, "data: %s\n\n", data)
}
