package coretasks

import (
	"berth/proxy/bridge/legacy"
	"berth/proxy/bridge/sessions"
)

// Server is an upstream that may make tasks.
type Server struct {
	At       *legacy.Upstream
	Sessions *sessions.Registry // its own
	Support  *Support
	Notes    *Notes
	Longest  func() int // id of a task that clients are given, in bytes
}
