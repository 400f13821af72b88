package proxy

import (
	"cmp"
	"errors"

	"berth/routing"
)

// leaveDenied takes a call away from u if that lost the session in an earlier one, and says
// so still: the session is moved, or its client told to begin a new one. done is false if
// the call may stay.
func (x *request) leaveDenied(u *routing.Upstream) (done bool, err error) {
	session := cmp.Or(x.Alias, x.Session)
	if x.movedFrom != "" || !x.Pool().Suspects(u, session) {
		return false, nil
	}
	if !x.isDenied(u) {
		x.Pool().Clear(u, session)
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
