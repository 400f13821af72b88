package bridge

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"unicode/utf8"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/mcp/eras"
	"berth/internal/mcp/inquiry"
	"berth/internal/wire"
	"berth/proxy/bridge/sessions"
	"berth/proxy/outbound"
)

// follow reads the answer to a call that was sent, and shows it as a modern server would.
func (c *call) follow(ctx context.Context, l *sessions.Session, s *sent) (*wire.Response, error) {
	r := &reading{c: c, l: l, id: s.id, flow: s.flow, leaves: c.came.Leaves}
	switch {
	case s.ask != nil:
		return c.show(ctx, r, s.ask)
	case s.Status/100 == 2 && exchange.ShapeOf(s.Response) == exchange.EventStream:
		go s.flow.Run(s.Response, "")
		return c.show(ctx, r, nil)
	}
	response, isOfTheWrongForm, err := c.followWhole(ctx, l, s)
	if err != nil {
		c.letGo(ctx, l, s, err)
		return response, err
	}
	s.close(l, c.became)
	switch {
	case isOfTheWrongForm:
		return c.sendAnew(ctx, l)
	default:
		l.GiveBack(false)
	}
	return response, err
}

// followWhole is follow of an answer that is no stream.
func (c *call) followWhole(ctx context.Context, l *sessions.Session, s *sent) (_ *wire.Response, isOfTheWrongForm bool, err error) {
	message, err := c.readWhole(ctx, s)
	if err != nil {
		return nil, false, &exchange.SendError{Err: err, Sent: true}
	}
	a, err := mcp.PeekAnswer(message, false)
	switch {
	case outbound.SaysItLacks(s.Response, message, c.Method):
		return exchange.Refusal(errNoMethod, c.id), false, nil
	case err == nil && a.IsError && a.ErrorCode == mcp.CodeMethodNotFound && c.isOfTheWrongForm(ctx, l):
		return nil, true, nil
	case s.Status/100 != 2:
		return failed(c.id, s.Response, message), false, nil
	case err != nil, !a.Answers(s.id) && !a.IsNobodys(), !a.IsError && !a.HasResult:
		return nil, false, errUnusable
	}
	return wire.Whole(c.conclude(ctx, l, &a, message)), false, nil
}

// failed is an HTTP error of the upstream's as the client gets it whose request id names.
func failed(id []byte, response *wire.Response, message []byte) *wire.Response {
	r := exchange.Refusal(worded(response), id)
	if mcp.MayBeMessage(message) && utf8.Valid(message) && mcp.ErrorObject(message) != nil {
		r = wire.Whole(response.Status, eras.ModernForm(message, id, false))
	}
	r.Unasked = response.Unasked
	takeRefusal(r.Header, response.Header)
	return r
}

// takeRefusal takes over what headers of an HTTP error tell its client: what to bring, and when to come again.
func takeRefusal(to, from *wire.Header) {
	for _, name := range []string{"Www-Authenticate", "Retry-After"} {
		if from.Has(name) {
			to.Take(name, from)
		}
	}
}

// worded is what an HTTP error of the upstream's says that bears no JSON-RPC. A 503 may come of what stands between, and of a call
// that has begun: one that says when to come again does not.
func worded(response *wire.Response) *mcp.Error {
	if response.Status == wire.StatusTooManyRequests || response.Status == wire.StatusServiceUnavailable && response.Header.Has("Retry-After") {
		return sessions.Busy(response.Status, response.Header, "the server takes no call now")
	}
	return &mcp.Error{Status: response.Status, Code: mcp.CodeInternal, Reason: mcp.ReasonBadUpstream, Outcome: outbound.FateBy(response.Status),
		Message: fmt.Sprintf("the server answered %d %s", response.Status, wire.Phrase(response.Status))}
}

// conclude is the response that ends the call, as a modern server gives it.
func (c *call) conclude(ctx context.Context, l *sessions.Session, a *mcp.Answer, message []byte) (status int, body []byte) {
	switch {
	case !utf8.Valid(message):
		return errUnusable.Status, errUnusable.Body(c.id)
	case c.tasked && a.CreatesTask():
		if status, body = c.f.tasks.HandOut(ctx, &c.who, l, c.id, message); status == wire.StatusOK {
			c.became = a.Task.ID
		}
		return status, body
	case len(c.lacks) > 0 && (a.IsError || a.ToolFailed):
		refusal := inquiry.ErrLacks(c.lacks)
		return refusal.Status, refusal.Body(c.id)
	case a.IsError && a.ErrorCode == mcp.CodeElicitFirst:
		return c.askFirst(ctx, message)
	case a.IsError && a.ErrorCode == mcp.CodeMethodNotFound && !isOffered(c.Method, l.Version):
		status = wire.StatusNotFound
	default:
		status = wire.StatusOK
	}
	if c.Method == mcp.MethodListTools && a.HasResult {
		c.f.tools.Note(c.who.Caller, mcp.ResultObject(message))
	}
	return status, eras.ModernForm(c.markPage(ctx, l, a, message), c.id, isCacheable(c.Method))
}

// forClient is what the client of a call, which id names in its session, hears of a notification; nil is nothing.
func (c *call) forClient(id []byte, a *mcp.Answer, message []byte) []byte {
	if !utf8.Valid(message) {
		return nil
	}
	switch a.Method {
	case mcp.MethodProgress:
		if p, ok := mcp.PeekProgress(message); ok && c.ProgressToken != nil && bytes.Equal(p.Token, id) && c.rises(p.Progress) {
			return mcp.WithProgressToken(message, c.ProgressToken)
		}
	case mcp.MethodLog:
		if wanted := mcp.Severity(c.who.Client.LogLevel); wanted >= 0 && mcp.Severity(mcp.LogLevelOf(message)) >= wanted {
			return message
		}
	}
	return nil
}

// rises reports whether a number is above what the client has been told of the call's progress (2026-07-28, "Progress"), and notes it.
func (c *call) rises(number string) bool {
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || c.hasProgress && n <= c.progress {
		return false
	}
	c.progress, c.hasProgress = n, true
	return true
}
