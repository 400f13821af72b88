package failover

import (
	"berth/routing"
	"berth/sticky"
)

// Step is what becomes of a request.
type Step int

// The steps of a Verdict.
const (
	Stay    Step = iota // where it is: nothing is wrong there, or nothing can be done about it
	Follow              // its session is elsewhere now
	Reroute             // another berth has changed what it was routed by
	Drop                // it answers an upstream that does not wait for it any more
	Refuse
)

// Verdict says what becomes of a request whose session's upstream may be lost. The zero
// value lets it stay.
type Verdict struct {
	Step    Step
	To      *routing.Upstream // with Follow: who holds the session
	Binding sticky.Binding    // with Follow: the session's; Alias is what To calls it
	Err     error             // with Refuse
	Later   bool              // what keeps the session where it is may pass

	waits bool // it moves then: where the store does not say what is kept of it, or no upstream is there to move it to
}

func refuse(err error) Verdict { return Verdict{Step: Refuse, Err: err} }

// follow sends the request of c to where its session is now.
func follow(c Case, binding sticky.Binding) Verdict {
	to := c.Pool().Owner(c.HTTP.Context(), binding.Upstream)
	if to == nil {
		return refuse(routing.ErrUnknownSession) // only another berth's configuration knows it
	}
	return Verdict{Step: Follow, To: to, Binding: binding}
}
