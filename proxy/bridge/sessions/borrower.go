package sessions

import (
	"strconv"

	"berth/internal/exchange"
	"berth/internal/mcp/eras"
	"berth/proxy/bridge/legacy"
	"berth/proxy/resident"
)

// Isolation says who may come to share a session.
type Isolation string

const (
	PerPrincipal Isolation = "principal" // nobody: a session is one caller's
	PerCall      Isolation = "call"      // each call has a session of its own
	ForAll       Isolation = "all"       // everybody whose clients declare alike
)

// Borrower is who wants a session.
type Borrower struct {
	Out     *exchange.Request // in whose name the upstream is spoken to
	Client  eras.Client
	Caller  string
	Among   Isolation // who may share its sessions
	Prefers string    // the session that it had best be lent; "": any
}

// Whose names whose sessions it may be lent; "": everybody's.
func (b *Borrower) Whose() string {
	if b.Among == ForAll {
		return ""
	}
	return b.Caller
}

// key names the shelf of these sessions.
func (b *Borrower) key() string { return b.Whose() + string(b.Client.LegacyCapabilities()) }

// placed is in whose name a session is opened: of a server that berth runs, a process is one
// caller's, and one place's.
func (b *Borrower) placed(at *legacy.Upstream, place int) *exchange.Request {
	return b.PlacedAs(at, string(b.Client.LegacyCapabilities()), place)
}

// PlacedAs is in whose name the session was opened that has this place, for a client that declares this.
func (b *Borrower) PlacedAs(at *legacy.Upstream, declared string, place int) *exchange.Request {
	if !resident.Is(at.URL) {
		return b.Out
	}
	as := *b.Out
	as.Caller = b.Whose() + declared + "/" + strconv.Itoa(place)
	return &as
}
