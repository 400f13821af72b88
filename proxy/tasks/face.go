package tasks

import (
	"context"

	"berth/internal/exchange"
	"berth/internal/wire"
	"berth/proxy/access"
	"berth/proxy/admission"
	"berth/proxy/audit"
	"berth/proxy/outbound"
	"berth/proxy/reply"
	"berth/proxy/taskwatch"
	"berth/routing"
	"berth/sticky"
	"berth/upgrade"
)

// sourceUpgraded: berth itself answers for the task.
const sourceUpgraded sticky.Source = "upgraded"

// Face is what clients see of a berth's tasks. Its fields do not change once it serves. Make it with New.
type Face struct {
	Tasks     *upgrade.Tasks // nil: calls stay plain
	Rules     upgrade.Rules  // which tools' calls become tasks
	Poller    *taskwatch.Poller
	Callers   *access.Checker
	Releasing <-chan struct{} // closed when those who wait for the end of a task are released

	deliveries *deliveries
}

// New returns a face of which nobody has seen anything. The one before it, under other rules, shares
// the streams that wait; nil: there was none.
func New(f Face, before *Face) *Face {
	if f.deliveries = new(deliveries); before != nil {
		f.deliveries = before.deliveries
	}
	return &f
}

// Request is one request that is about tasks of berth's own making, or becomes one.
type Request struct {
	outbound.Way

	Face *Face
	At   *routing.Decision // where it was routed to, if it was
	Out  *reply.Writer
	Rec  *audit.Record
	Seat *admission.Seat
	Root Root
}

// Root is the request's way through the proxy, as far as it does not end here.
type Root interface {
	// Charge counts a call whose charge is put off, once.
	Charge(ctx context.Context) error
	// Preferred names the upstream that the call would go to as a plain one, "" if any will
	// do: it may be kept together with others, or continue what another call began.
	Preferred() string
	// UseSession keeps the request's session alive, and fails if that is nobody's.
	UseSession() error
	// Relay passes u's answer on to the client.
	Relay(u *routing.Upstream, response *wire.Response) error
	// StreamHeaders copies the headers of u's event stream to the client.
	StreamHeaders(response *wire.Response)
	// Observe records what the last event of u's answer says, before it is released. instead,
	// if not nil, is a message to give to the client in its place.
	Observe(u *routing.Upstream, piece exchange.Piece) (instead []byte, err error)
}
