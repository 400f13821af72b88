package legacy

import (
	"log/slog"
	"net/url"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/inbound"
	"berth/proxy/outbound"
	"berth/proxy/session"
	"berth/routing"
)

// Version is the one that is spoken: streams of legacy servers can be resumed only by clients of
// 2025-11-25.
const Version = "2025-11-25"

// Upstream is one of the legacy era.
type Upstream struct {
	*routing.Upstream
	Endpoint func() *inbound.Endpoint // as it is now, whose pool's the upstream is
	Log      *slog.Logger
}

// Pool is the upstream's, as it is now.
func (u *Upstream) Pool() *routing.Pool { return u.Endpoint().Router.Pool }

// Retires reports whether what is new is to begin in another session than the one of this name, as whoever runs the upstream says.
func (u *Upstream) Retires(session string) bool {
	if !u.Hosted {
		return false
	}
	runner, ok := u.Endpoint().Client.(interface {
		Retires(upstream *url.URL, session string) bool
	})
	return ok && runner.Retires(u.URL, session)
}

// Opener opens sessions in the name of who sends out.
func (u *Upstream) Opener(out *exchange.Request) session.Opener {
	return session.Opener{
		Endpoint: u.Endpoint(), Log: u.Log,
		Post:    func(_ *routing.Upstream, body []byte) *exchange.Request { return OwnPost(out, body) },
		IsOdd:   func(h *wire.Header) bool { return inbound.HasOddSession(h, maxSession) },
		Crossed: func(*routing.Upstream) func() { return func() {} },
	}
}

// maxSession bounds the name of a session, in bytes.
const maxSession = 4 << 10

// OwnPost is a POST of berth's own in the name of who sends out, as that bears by now, in no session and of no version.
func OwnPost(out *exchange.Request, body []byte) *exchange.Request {
	own := &exchange.Request{Method: wire.MethodPost, URL: out.URL, Host: out.Host, Header: headerOf(out), Body: body, Caller: out.Caller, Unsent: out.Unsent}
	outbound.MakeOwn(own.Header)
	own.Header.Del(mcp.HeaderVersion)
	own.Header.Del(mcp.HeaderSession)
	own.Header.Del("Content-Length")
	return own
}

func headerOf(out *exchange.Request) *wire.Header {
	if out.Renewal != nil {
		if header := out.Renewal.Header(); header != nil {
			return header
		}
	}
	return out.Header.Clone()
}
