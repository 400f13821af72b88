package proxy

import (
	"cmp"
	"errors"
	"sync"

	"berth/routing"
)

// maxDoubts bounds the sessions that are kept in doubt.
const maxDoubts = 10_000

// doubts are sessions of upstreams' that these seem to have lost: held calls in them were
// refused, of which the client, who has a task's handle, hears nothing that would have it
// begin a new one. They are not kept in the store: another berth doubts by a call of its
// own. The zero value is ready.
type doubts struct {
	mu       sync.Mutex // guards the field below
	sessions map[doubted]struct{}
}

// doubted is a session as its upstream calls it.
type doubted struct{ upstream, session string }

// add has a session be asked for before the next call is held in it.
func (d *doubts) add(u *routing.Upstream, session string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sessions == nil || len(d.sessions) >= maxDoubts {
		d.sessions = map[doubted]struct{}{}
	}
	d.sessions[doubted{u.Name, session}] = struct{}{}
}

func (d *doubts) has(u *routing.Upstream, session string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, ok := d.sessions[doubted{u.Name, session}]
	return ok
}

func (d *doubts) drop(u *routing.Upstream, session string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.sessions, doubted{u.Name, session})
}

// leaveDenied takes a call away from u if that lost the session in an earlier one, and says
// so still: the session is moved, or its client told to begin a new one. done is false if
// the call may stay.
func (x *request) leaveDenied(u *routing.Upstream) (done bool, err error) {
	session := cmp.Or(x.alias, x.session)
	if x.movedFrom != "" || !x.endpoint.doubts.has(u, session) {
		return false, nil
	}
	if !x.isDenied(u) {
		x.endpoint.doubts.drop(u, session)
		return false, nil
	}
	binding, err := x.relocate(u, true)
	switch {
	case errors.Is(err, errNotMoved):
		return true, routing.ErrUnknownSession
	case err != nil:
		return true, err
	}
	return true, x.follow(binding)
}
