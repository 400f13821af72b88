package subscribe

import (
	"berth/internal/wire"
	"berth/proxy/access"
	"berth/proxy/admission"
	"berth/proxy/audit"
	"berth/proxy/outbound"
	"berth/proxy/reply"
	"berth/proxy/standing"
	"berth/proxy/taskwatch"
	"berth/routing"
	"berth/upgrade"
)

// Subscriptions serves the subscriptions of all pools. Its fields must not change once it
// serves.
type Subscriptions struct {
	IDs      *upgrade.IDs      // of tasks of berth's own making; nil: there are none
	Tasks    *upgrade.Reader   // of these
	Steps    *upgrade.Steps    // likewise
	Poller   *taskwatch.Poller // of these
	Draining <-chan struct{}   // closed when subscriptions are to end
	Gate     *admission.Gate
	Reporter *audit.Reporter

	shared sharedStreams
}

// Request is a client's request for a subscription, and how it is served in that client's
// name.
type Request struct {
	outbound.Way

	Out         *reply.Writer
	CopyHeaders func(*wire.Response) // to Out, from an upstream's stream
	CheckServed func() error         // what speaks against the request where berth is the server
	Caller      func() access.Caller
	Stands      *standing.Stream // counts what the client is told; nil: nobody does
}

// Open begins a subscription: the owners of its tasks are found, by q, and its legs are being
// joined. Close it.
func (s *Subscriptions) Open(r *Request, q routing.Query) (*Subscription, error) {
	own, err := s.findOwn(r)
	if err != nil {
		return nil, err
	}
	audience, err := r.Endpoint.Router.Audience(r.HTTP.Context(), own.narrow(q))
	if err == nil {
		err = s.Gate.ChargeMisses(r.Way.Caller, audience.Unknown)
	}
	if err != nil {
		own.close()
		return nil, err
	}
	l := s.newSubscription(r, own)
	l.plan(audience)
	return l, nil
}

// count counts a stream that stands until the function is called that it returns.
func (s *Subscriptions) count(pool string, shared bool) (end func()) {
	s.Reporter.Subscribed(pool, shared, 1)
	return func() { s.Reporter.Subscribed(pool, shared, -1) }
}
