package outbound

import (
	"net/url"
	"testing"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/inbound"
	"berth/routing"
)

// Who is told at once that its request has failed on its way to another berth may ask again: that is no connection which has come to its
// end. What changes nothing is sent again where that berth was lost with it.
func TestWhatFailsBetweenBerthsIsNotSentAgainAtOnce(t *testing.T) {
	read, call := Terms{Again: true, Reads: true}, Terms{Again: true}
	for name, c := range map[string]struct {
		failed exchange.SendError
		terms  Terms
		want   bool
	}{
		"a connection":               {exchange.SendError{}, call, true},
		"the way":                    {exchange.SendError{Between: true}, call, false},
		"the way of a read":          {exchange.SendError{Between: true}, read, false},
		"another berth, with a call": {exchange.SendError{Between: true, Sent: true}, call, false},
		"another berth, with a read": {exchange.SendError{Between: true, Sent: true}, read, true},
		"for want of a descriptor":   {exchange.SendError{Starved: true}, read, false},
		"what is no answer in HTTP":  {exchange.SendError{Garbled: true, Sent: true}, read, false},
	} {
		if got := c.terms.Repeats(&c.failed); got != c.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// A stream may go on whose upstream nobody could ask.
func TestAStreamMayGoOnAsLongAsNobodySaysNo(t *testing.T) {
	u := &routing.Upstream{Name: "a", URL: &url.URL{Scheme: "http", Host: "a", Path: "/mcp"}}
	for name, c := range map[string]struct {
		does answering
		want bool
	}{
		"an answer":               {status(200), true},
		"a refusal":               {status(404), false},
		"a reader that stands":    {status(409), true},
		"nobody listens":          {fails(exchange.SendError{Refused: true}), false},
		"no descriptor left":      {fails(exchange.SendError{Starved: true}), true},
		"no way to another berth": {fails(exchange.SendError{Between: true}), true},
		"too slow":                {fails(exchange.SendError{Sent: true, TimedOut: true}), true},
	} {
		w := Way{Call: &inbound.Call{
			HTTP:     &wire.Request{Header: wire.NewHeader(mcp.HeaderVersion, "2025-11-25"), URL: &url.URL{Path: "/mcp"}},
			Endpoint: &inbound.Endpoint{Client: c.does, Router: &routing.Router{Pool: routing.NewPool(routing.PoolOptions{Upstreams: []*routing.Upstream{u}})}},
		}}
		if got := w.CouldResume(t.Context(), u, "1"); got != c.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}
