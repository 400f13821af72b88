package proxy

import (
	"strconv"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/outbound"
	"berth/routing"
)

// eraSearch is the way of unbound work to an upstream that speaks its era, and asks for no session where it is in none, in a pool whose
// upstreams differ in that: a fleet in the middle of an upgrade.
type eraSearch struct {
	refused   []*routing.Upstream // they do not speak it, as they say
	demanding []*routing.Upstream // they demand a session
	response  *wire.Response      // the last of those refusals, for the client if nobody takes the work
	from      *routing.Upstream   // whose that is
}

// goesOn reports whether u has refused the request as of an era that it does not speak, or for its want of a session, and
// another upstream may take it: nothing of it was executed.
func (s *eraSearch) goesOn(x *request, u *routing.Upstream, response *wire.Response) bool {
	c := x.Single()
	if c == nil || x.Opaque || x.Session != "" || len(x.Pool().Upstreams()) < 2 || !s.notes(x, c, u, response) {
		return false
	}
	s.drop()
	s.response, s.from = response, u
	x.made.Untaken()
	x.rec.EndExchange(strconv.Itoa(response.Status))
	return true
}

// notes notes what the answer tells of u, and reports whether it is a refusal that another upstream may not share.
func (s *eraSearch) notes(x *request, c *mcp.Call, u *routing.Upstream, response *wire.Response) (another bool) {
	era := x.Era()
	switch {
	case era == mcp.EraLegacy && outbound.DemandsSession(c.Method, c.ID, response):
		s.demanding, another = x.Pool().Demand(u, s.refused)
		return another
	case outbound.RefusesEra(era, c.Method, c.ID, response):
		s.refused = append(s.refused, u)
		return x.Pool().Refused(era, s.refused)
	case response.Status/100 == 2:
		x.Pool().Speaks(u, era, s.refused)
	}
	return false
}

// drop lets go of a refusal that nobody is told of.
func (s *eraSearch) drop() {
	if s.response != nil {
		s.response.Body.Close()
		s.response = nil
	}
}

// relay passes the last refusal on to the client, which may fall back on it.
func (s *eraSearch) relay(x *request) error {
	u, response := s.from, s.response
	s.response = nil
	x.rec.Upstream = u.Name
	return x.relayAnswer(u, response)
}
