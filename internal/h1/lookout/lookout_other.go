//go:build !linux

package lookout

import "syscall"

// Lookout sees nobody.
type Lookout struct{}

// Sight is what is to be seen of a connection.
type Sight uint32

const (
	Leaving Sight = iota
	Arriving
)

// Sighting is a connection that is in view: none is.
type Sighting struct{}

// HasLeft is not called: nothing is in view.
func (*Sighting) HasLeft() bool { return false }

// View returns nil: no connection can be brought into view.
func (*Lookout) View(syscall.RawConn, Sight) *Sighting { return nil }

// Again is not called: nothing is in view.
func (*Lookout) Again(syscall.RawConn, *Sighting, Sight) bool { return false }

// Always is not called: nothing is in view.
func (*Lookout) Always(syscall.RawConn, *Sighting) bool { return false }

// Away is not called: nothing is in view.
func (*Lookout) Away(syscall.RawConn, *Sighting) {}

// Watch is not called: nothing is in view.
func (*Lookout) Watch(*Sighting, func()) {}

// Forget is not called: nothing is in view.
func (*Lookout) Forget(*Sighting) {}

// End does nothing.
func (*Lookout) End() {}
