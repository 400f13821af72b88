package site

import (
	"errors"
	"time"

	"berth/internal/sockets"
	"berth/internal/systemd"
)

// notAccepting is how long the listener may be left alone. It is a matter of microseconds.
const notAccepting = 5 * time.Second

var errNotAccepting = errors.New("nobody accepts connections any more")

// Probes find out whether berth lives: that connections are accepted, and that the locks on a
// request's way are given back. None leaves the process: an upstream or a store that is away is no
// reason to end it.
func (s *Site) Probes(clients *sockets.Listener) []systemd.Probe {
	return []systemd.Probe{
		{Name: "listener", Ask: func() error {
			if clients.Stuck(notAccepting) {
				return errNotAccepting
			}
			return nil
		}},
		{Name: "limits", Ask: func() error { s.Proxy().Streams(); return nil }},
		{Name: "pools", Ask: func() error {
			for _, ep := range s.now.Load().faces {
				poolAnswers(ep.Router.Pool)
			}
			return nil
		}},
		{Name: "tasks", Ask: func() error { s.held(); return nil }},
		{Name: "parts", Ask: func() error { s.parts.Here(); return nil }},
		{Name: "store", Ask: func() error { s.store.Health(); return nil }},
	}
}
