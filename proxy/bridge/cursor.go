package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/mcp/taskwire"
	"berth/internal/seal"
	"berth/internal/wire"
	"berth/proxy/bridge/sessions"
	"berth/proxy/outbound"
)

// page is where a list goes on, as its client carries it, sealed: a server may keep its cursors in
// the session that it gave them out in.
type page struct {
	Upstream string `json:"u"`
	Session  string `json:"s,omitempty"`
	Cursor   string `json:"c"`
}

const (
	sealCursor = "bridged cursor"
	cursorLife = time.Hour
)

// isList reports whether a method's results may come in pages.
func isList(method string) bool {
	switch method {
	case mcp.MethodListTools, mcp.MethodListPrompts, mcp.MethodListResources, mcp.MethodListTemplates:
		return true
	}
	return false
}

// openPage returns the page that a cursor is of, where that was given out for one of about. It fails with
// mcp.ErrInvalidCursor if it was not, or is too old.
func openPage(ctx context.Context, keys *seal.Keyring, about [][]string, cursor string) (p page, err error) {
	text, _, err := keys.OpenAny(ctx, sealCursor, about, cursor)
	if errors.Is(err, seal.ErrInvalid) || err == nil && json.Unmarshal(text, &p) != nil {
		return p, mcp.ErrInvalidCursor
	}
	return p, err
}

// seal returns the cursor of a page.
func (p page) seal(ctx context.Context, keys *seal.Keyring, about []string) (string, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return "", err
	}
	return keys.Seal(ctx, sealCursor, about, text, cursorLife)
}

// turnPage sends a call that asks for a further page to the upstream that gave its cursor out, in that session if it can. Where that
// upstream has left the pool, is silent or gives no answer, the one judges the cursor that the call was routed to: most know places in a
// list that all of a pool have, and who does not know it says so. It fails with mcp.ErrInvalidCursor if the cursor is not this
// caller's, or too old.
func (c *call) turnPage(ctx context.Context) (*wire.Response, error) {
	p, err := openPage(ctx, c.f.b.options().Keys, c.about(), c.Cursor)
	if err != nil {
		return nil, err
	}
	c.who.Out.Body, c.who.Prefers = taskwire.WithCursor(c.who.Out.Body, p.Cursor), p.Session
	routed, issuer := c.f, c.f.u.Pool().Owner(ctx, p.Upstream)
	if issuer == nil || issuer.Is(routed.u.Upstream) || issuer.Silent() {
		return c.begin(ctx)
	}
	c.goTo(c.f.b.faceOf(issuer))
	response, err := c.begin(ctx)
	if again := (outbound.Terms{Again: true, Reads: true}); again.Repeats(err) && ctx.Err() == nil {
		response, err = c.begin(ctx)
	}
	if _, unanswered := errors.AsType[*exchange.SendError](err); unanswered && ctx.Err() == nil {
		c.goTo(routed)
		return c.begin(ctx)
	}
	return response, err
}

// markPage is the response that bears a page of a list, whose cursor leads back to the session.
func (c *call) markPage(ctx context.Context, l *sessions.Session, a *mcp.Answer, message []byte) []byte {
	if !isList(c.Method) || a.NextCursor == "" {
		return message
	}
	token, err := page{c.f.u.Name, l.ID, a.NextCursor}.seal(ctx, c.f.b.options().Keys, c.about()[0])
	if err != nil {
		return mcp.ErrorResponse(a.ID, errNoCursor.Object())
	}
	return mcp.WithNextCursor(message, token)
}
