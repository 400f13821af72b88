package outbound

import (
	"context"
	"fmt"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/inbound"
	"berth/proxy/resident"
	"berth/routing"
	"berth/upgrade"
)

// Transport returns how held calls reach the endpoint's upstreams.
func Transport(ep *inbound.Endpoint) upgrade.Transport {
	return upgrade.Transport{
		Send: func(ctx context.Context, u *routing.Upstream, c *upgrade.Call, maxAnswer int64) (upgrade.Exchange, error) {
			response, err := To(ep).sendHeld(ctx, u, c)
			if err != nil {
				return nil, err
			}
			if response.Status == wire.StatusBadRequest {
				return To(ep).sendRefused(ctx, u, c, response, maxAnswer)
			}
			return NewHeldAnswer(ctx, response, response.Body, maxAnswer, c.Room), nil
		},
		Ask: func(ctx context.Context, u *routing.Upstream, c *upgrade.Call, maxAnswer int64) (upgrade.Exchange, error) {
			response, err := To(ep).sendHeld(ctx, u, c)
			if err != nil {
				return nil, err
			}
			if status := response.Status; wire.RefusesCredentials(status) {
				response.Body.Close()
				return nil, &upgrade.CredentialsError{Status: status}
			}
			return NewHeldAnswer(ctx, response, response.Body, maxAnswer, c.Room), nil
		},
		Resume: To(ep).resumeHeld,
		Tell:   To(ep).tellHeld,
		GiveUp: To(ep).giveUpHeld,
		IsMoot: To(ep).isMootHeld,
		End:    To(ep).endHeld,
	}
}

// sendHeld sends a held call to u once. ctx bounds it.
func (s Sender) sendHeld(ctx context.Context, u *routing.Upstream, c *upgrade.Call) (*wire.Response, error) {
	response, err := s.ExchangeHeld(ctx, u, c, wire.MethodPost, c.Headers())
	if err == nil {
		err = s.Misplaced(ctx, u, c, response)
	}
	return response, err
}

// Misplaced is what is wrong with where a call was sent: u does not speak its era, or does not
// know its session. The answer is closed then; such a one refusesByStatus.
func (s Sender) Misplaced(ctx context.Context, u *routing.Upstream, c *upgrade.Call, response *wire.Response) error {
	switch {
	case c.Session == "" && s.refusesHeld(u, c.ID, response):
		response.Body.Close()
		return &exchange.SendError{Err: ErrEra} // as good as not sent
	case c.Session != "" && s.lostSession(ctx, u, c, response.Status):
		response.Body.Close()
		return upgrade.ErrSessionLost
	}
	return nil
}

// lostSession reports whether a status with which u answered means that it does not know the
// session of a call. The next call in that asks first.
func (s Sender) lostSession(ctx context.Context, u *routing.Upstream, c *upgrade.Call, status int) bool {
	lost := status == wire.StatusNotFound || status == wire.StatusBadRequest && s.DeniesSession(ctx, u, c)
	if lost {
		s.Suspects().Add(u, c.Session)
	}
	return lost
}

// ExchangeHeld sends a request of a held call's to u once.
func (s Sender) ExchangeHeld(ctx context.Context, u *routing.Upstream, c *upgrade.Call, method string, header *wire.Header) (*wire.Response, error) {
	out := &exchange.Request{Method: method, URL: WithQuery(u.URL, c.Query), Host: s.HostFor(u, c.Host), Header: header, Caller: c.Principal, Leaves: c.Leaves, Until: c.Until}
	if method == wire.MethodPost {
		out.Body, out.GoesOn = c.Body, mcp.MayGoOn(c.Body)
	}
	out.Unsent = exchange.Unsent{Authorization: c.Principal == "" && s.Authorization != nil, Digest: c.Unsent}
	s.Authorize(out.Header)
	if c.Renewal != nil && s.holdsCalls(u) {
		out.Renewal = renewed{s, c.Renewal}
	}
	return s.Send(ctx, u, out, Terms{Watched: true})
}

// renewed is a Renewal as it goes upstream.
type renewed struct {
	Sender
	exchange.Renewal
}

// Header implements exchange.Renewal.
func (r renewed) Header() *wire.Header {
	header := r.Renewal.Header()
	if header != nil {
		r.Authorize(header)
	}
	return header
}

// resumeHeld is upgrade.Transport.Resume.
func (s Sender) resumeHeld(ctx context.Context, u *routing.Upstream, c *upgrade.Call, event string, maxAnswer int64) (upgrade.Exchange, error) {
	header := c.Headers()
	header.Set("Accept", "text/event-stream")
	header.Set(mcp.HeaderLastEvent, event)
	header.Del("Content-Type")
	response, err := s.ExchangeHeld(ctx, u, c, wire.MethodGet, header)
	switch {
	case err != nil:
		return nil, err
	case IsStream(response):
		return NewHeldAnswer(ctx, response, response.Body, maxAnswer, c.Room), nil
	}
	status := response.Status
	response.Body.Close()
	switch {
	case s.lostSession(ctx, u, c, status):
		return nil, upgrade.ErrSessionLost
	case status == wire.StatusConflict:
		return nil, upgrade.ErrStands
	case wire.RefusesCredentials(status):
		return nil, &upgrade.CredentialsError{Status: status}
	case MayPass(status):
		return nil, fmt.Errorf("proxy: a stream is not resumed yet: HTTP %d", status)
	}
	return nil, upgrade.ErrNoReplay
}

// DeniesSession reports whether u does not know the session of a call: one that answers with
// 400 may mean that or something else.
func (s Sender) DeniesSession(ctx context.Context, u *routing.Upstream, c *upgrade.Call) bool {
	ping := *c
	ping.Body = OwnPing()
	ctx, cancel := context.WithTimeout(ctx, ConfirmTime)
	defer cancel()
	response, err := s.ExchangeHeld(ctx, u, &ping, wire.MethodPost, ping.Headers())
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return DeniesSession(response.Status)
}

// tellHeld is upgrade.Transport.Tell.
func (s Sender) tellHeld(ctx context.Context, u *routing.Upstream, c *upgrade.Call) error {
	return statusOf(s.ExchangeHeld(ctx, u, c, wire.MethodPost, c.Headers()))
}

// giveUpHeld is upgrade.Transport.GiveUp.
func (s Sender) giveUpHeld(ctx context.Context, u *routing.Upstream, c *upgrade.Call) error {
	if !s.holdsCalls(u) {
		return nil
	}
	return s.tellHeld(ctx, u, c)
}

// isMootHeld is upgrade.Transport.IsMoot.
func (s Sender) isMootHeld(ctx context.Context, u *routing.Upstream, c *upgrade.Call) bool {
	if !s.holdsCalls(u) {
		return false
	}
	response, err := s.ExchangeHeld(ctx, u, c, wire.MethodPost, c.Headers())
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.Status == wire.StatusNoContent
}

// holdsCalls reports whether calls to u are held while their clients are asked: the bridge alone does that.
func (s Sender) holdsCalls(u *routing.Upstream) bool {
	return s.Bridge != nil && s.Bridge.Bridges(u)
}

// tellsCallersApart reports whether berth keeps something of each caller's on the way to u: sessions of the bridge, or of a process.
func (s Sender) tellsCallersApart(u *routing.Upstream) bool {
	return resident.Is(u.URL) || s.holdsCalls(u)
}

// endHeld is upgrade.Transport.End.
func (s Sender) endHeld(ctx context.Context, u *routing.Upstream, c *upgrade.Call) error {
	header := c.Headers()
	header.Del("Content-Type")
	return statusOf(s.ExchangeHeld(ctx, u, c, wire.MethodDelete, header))
}

// statusOf closes an answer of which only the status counts, and returns what is wrong with that.
func statusOf(response *wire.Response, err error) error {
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.Status/100 != 2 {
		return fmt.Errorf("proxy: the upstream answered HTTP %d", response.Status)
	}
	return nil
}
