package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"berth/internal/mcp"
	"berth/internal/seal"
	"berth/proxy/bridge/sessions"
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

// turnPage has a call ask for the page that its cursor is of, where that was given out. It fails with
// mcp.ErrInvalidCursor if the cursor is not this caller's, or too old.
func (c *call) turnPage(ctx context.Context) error {
	if !isList(c.Method) || c.Cursor == "" {
		return nil
	}
	p, err := openPage(ctx, c.f.b.options().Keys, c.about(), c.Cursor)
	if err != nil {
		return err
	}
	u := c.f.u.Pool().Find(p.Upstream)
	if u == nil {
		return mcp.ErrInvalidCursor
	}
	c.goTo(c.f.b.faceOf(u))
	c.who.Out.Body, c.who.Prefers = mcp.WithCursor(c.who.Out.Body, p.Cursor), p.Session
	return nil
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
