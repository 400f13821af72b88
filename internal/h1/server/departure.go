package server

import (
	"context"
	"slices"
	"sync"
	"time"

	"berth/internal/fresh"
)

// departure is the context of a request: its end is the client's departure, or the request's own. It watches
// the connection from when somebody asks for its end and the body has been read. It is never used again.
type departure struct {
	mu    sync.Mutex // guards the fields below
	conn  *conn
	whole bool // the body was read
	ended bool
	asked *asked // nil: nobody has asked for the end
}

// asked is what those wait for who have asked.
type asked struct {
	done  chan struct{} // nil: nobody waits for it
	funcs []*func()

	watched bool   // the connection is
	watch   *watch // nil: by the lookout
}

// Deadline implements [context.Context]: there is none.
func (*departure) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }

// Value implements [context.Context]: there are none.
func (*departure) Value(any) any { return nil }

// Err implements [context.Context]. It asks for nothing: it says what is known.
func (d *departure) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		return context.Canceled
	}
	return nil
}

// Done implements [context.Context].
func (d *departure) Done() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	a := d.ask()
	if a.done == nil {
		if a.done = make(chan struct{}); d.ended {
			close(a.done)
		}
	}
	return a.done
}

// OnEnd implements wire.Ending.
func (d *departure) OnEnd(f func()) (stop func() bool) { return d.AfterFunc(f) }

// AfterFunc has f run in a goroutine of its own after the end. context.AfterFunc looks for it by
// its name.
func (d *departure) AfterFunc(f func()) (stop func() bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		go f()
		return func() bool { return false }
	}
	a := d.ask()
	a.funcs = append(a.funcs, &f)
	return func() bool { return d.stop(&f) }
}

func (d *departure) stop(f *func()) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.asked == nil { // it has ended
		return false
	}
	at := slices.Index(d.asked.funcs, f)
	if at < 0 {
		return false
	}
	d.asked.funcs = slices.Delete(d.asked.funcs, at, at+1)
	return true
}

// ask begins to watch as soon as that can be. It is called with mu held.
func (d *departure) ask() *asked {
	if d.asked == nil {
		d.asked = new(asked)
		d.watch()
	}
	return d.asked
}

// watch begins to watch if somebody has asked. It is called with mu held.
func (d *departure) watch() {
	if d.whole && !d.ended && d.asked != nil && !d.asked.watched {
		d.asked.watched, d.asked.watch = true, d.conn.watch(d.end)
	}
}

// bodyEnded lets the connection be watched: what comes from now on is not the body.
func (d *departure) bodyEnded() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.whole = true
	d.watch()
}

// end ends the context.
func (d *departure) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		return
	}
	d.ended = true
	if d.asked == nil {
		return
	}
	if d.asked.done != nil {
		close(d.asked.done)
	}
	for _, f := range d.asked.funcs {
		go (*f)()
	}
	d.asked.funcs = nil
}

// stopWatching leaves the connection to who reads it. The context has ended.
func (d *departure) stopWatching() {
	d.mu.Lock()
	conn, a := d.conn, d.asked
	d.conn, d.asked = nil, nil // whoever keeps the context, or one that was made with it, keeps neither
	d.mu.Unlock()
	if a != nil && a.watched { // nobody begins any more
		conn.stopWatching(a.watch)
	}
}

// batch is how many contexts are made at once.
const batch = 32

// departures makes contexts.
var departures = fresh.New[departure](batch)
