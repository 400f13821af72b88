package tasklist

import (
	"context"
	"errors"
	"strconv"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/mcp/taskwire"
	"berth/internal/wire"
	"berth/proxy/audit"
	"berth/proxy/fault"
	"berth/proxy/outbound"
	"berth/proxy/reply"
)

// exchange sends the request to one upstream and reads the page that it answers.
func (m *making) exchange(ctx context.Context, p place, t outbound.Terms) (taskwire.List, error) {
	out := m.Request(p.upstream, wire.MethodPost, m.URL(p.upstream), m.bodyFor(p))
	sent := m.record.Exchange(p.upstream)
	response, err := outbound.To(m.Endpoint).Send(ctx, p.upstream, out, t)
	if err != nil {
		m.record.Exchanged(sent, audit.ErrorType(err))
		return taskwire.List{}, err
	}
	defer response.Body.Close()
	list, err := m.read(p, response)
	if err == nil && !response.Own {
		m.ruledBy(reply.CrossOrigin(response.Header))
	}
	m.record.Exchanged(sent, errorType(err))
	var refused *Refusal
	switch {
	case errors.As(err, &refused) && refused.Code == mcp.CodeInvalidParams && p.Cursor != "":
		return list, mcp.ErrInvalidCursor
	case err == nil && list.NextCursor != "" && list.NextCursor == p.Cursor:
		return list, fault.BadUpstream // it would never end
	}
	return list, err
}

// errorType is error.type of an exchange that brought a page, or an answer that is none.
func errorType(err error) string {
	var refused *Refusal
	switch {
	case err == nil:
		return ""
	case errors.As(err, &refused) && refused.Code != 0:
		return strconv.Itoa(refused.Code)
	}
	return audit.ErrorType(err)
}

// bodyFor is the client's request with the upstream's own cursor in the place of the
// client's. Without either it goes as it came.
func (m *making) bodyFor(p place) []byte {
	if p.Cursor == "" && m.Single().Cursor == "" {
		return m.Body
	}
	return taskwire.WithCursor(m.Body, p.Cursor)
}

// read reads one upstream's page, or its refusal. What breaks off or takes too long is as
// good as silence.
func (m *making) read(p place, response *wire.Response) (taskwire.List, error) {
	if response.Status >= 300 && response.Status < 400 {
		return taskwire.List{}, fault.Redirect
	}
	body, err := exchange.ReadWhole(response, m.ID, pageBytes, m.Crossed(p.upstream))
	switch {
	case errors.Is(err, exchange.ErrTooLong), errors.Is(err, exchange.ErrNoResponse), errors.Is(err, exchange.ErrCrossed):
		return taskwire.List{}, fault.BrokenOff(err)
	case err != nil:
		return taskwire.List{}, fault.ListSilent
	}
	a, err := mcp.PeekAnswer(body, false)
	if !a.HasResult && (a.IsError && err == nil || response.Status >= 400) {
		return taskwire.List{}, &Refusal{response.Kept(), body, a.ErrorCode}
	}
	if err != nil {
		return taskwire.List{}, fault.BrokenOff(err)
	}
	if response.Status >= 400 {
		return taskwire.List{}, fault.BadUpstream // a result with an error's status
	}
	list, err := taskwire.ReadList(a.Result)
	if err != nil {
		return list, fault.BrokenOff(err)
	}
	return list, nil
}
