package sockets

import "errors"

// IsTemporary reports whether a listener that failed with err may take connections again, as once there are file descriptors.
func IsTemporary(err error) bool {
	temporary, ok := errors.AsType[interface {
		error
		Temporary() bool
	}](err)
	return ok && temporary.Temporary()
}
