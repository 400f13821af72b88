package tasks

import (
	"bytes"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/proxy/reply"
)

// takeEvent passes an event on, and reports whether it ends the answer. Progress bears the
// client's own token, or is not for it.
func (a *waiting) takeEvent(o offer) (ends bool, err error) {
	raw, message := o.event.Raw, o.event.Data
	says, unread := mcp.PeekAnswer(message, false)
	switch ends = unread == nil && len(message) > 0 && says.Method == ""; {
	case ends:
		if raw, err = a.lastEvent(o); err != nil {
			return true, err
		}
	case isProgress(message, &says):
		token := a.r.Single().ProgressToken
		if token == nil {
			return false, nil
		}
		raw = reply.Event(mcp.WithProgressToken(message, token))
	}
	if !a.opened {
		a.opened = true
		a.r.Root.StreamHeaders(o.response)
		a.r.Out.WriteHeader(o.response.Status)
	}
	return ends, a.r.Out.WriteThrough(raw)
}

func isProgress(message []byte, says *mcp.Answer) bool {
	if says.Method != mcp.MethodProgress {
		return false
	}
	_, ok := mcp.PeekProgress(message)
	return ok
}

// lastEvent returns the response as the client is to get it, or what it gets instead. It fails
// where the client can still be answered with an error.
func (a *waiting) lastEvent(o offer) (raw []byte, err error) {
	raw = o.event.Raw
	if !bytes.Equal(o.id, a.r.ID) {
		raw = reply.Event(mcp.WithID(o.event.Data, a.r.ID))
	}
	instead, err := a.r.Root.Observe(o.u, exchange.Piece{Raw: raw, Message: o.event.Data, Between: true})
	switch {
	case err != nil && !a.opened:
		return nil, err
	case err != nil:
		instead = a.r.Word(err).Body(a.r.ID)
	}
	if instead != nil {
		raw = reply.Event(instead)
	}
	return raw, nil
}
