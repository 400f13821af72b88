package proxy

import (
	"strconv"

	"berth/internal/wire"
	"berth/proxy/outbound"
	"berth/routing"
)

// eraSearch is the way of unbound work to an upstream that speaks its era, in a pool whose
// upstreams differ in that: a fleet in the middle of an upgrade.
type eraSearch struct {
	refused  []*routing.Upstream // they do not speak it, as they say
	response *wire.Response      // the last of those refusals, for the client if nobody does
}

// goesOn reports whether u has refused the request as of an era that it does not speak, and
// another upstream may take it: nothing of it was executed.
func (s *eraSearch) goesOn(x *request, u *routing.Upstream, response *wire.Response) bool {
	c := x.Single()
	if c == nil || x.Opaque || x.Session != "" || len(x.Pool().Upstreams()) < 2 {
		return false
	}
	era := x.Era()
	if !outbound.RefusesEra(era, c.Method, c.ID, response) {
		if response.Status/100 == 2 {
			x.Pool().Speaks(u, era, s.refused)
		}
		return false
	}
	s.refused = append(s.refused, u)
	if !x.Pool().Refused(era, s.refused) {
		return false
	}
	s.drop()
	s.response = response
	x.made.Untaken()
	x.rec.EndExchange(strconv.Itoa(response.Status))
	return true
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
	u, response := s.refused[len(s.refused)-1], s.response
	s.response = nil
	x.rec.Upstream = u.Name
	return x.relayAnswer(u, response)
}
