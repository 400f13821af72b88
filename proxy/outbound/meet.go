package outbound

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/routing"
)

// What Meet finds of an upstream that answers no client.
var (
	// ErrHost says that the Host header is refused with which clients' calls reach the upstream.
	ErrHost = errors.New("proxy: the upstream refuses the Host header that it is sent")
	// ErrOldTransport says that only the transport of 2024-11-05 is spoken there, which takes a URL of its own scheme.
	ErrOldTransport = errors.New("proxy: only the HTTP+SSE transport of 2024-11-05 is spoken there, which has URLs that begin with sse+")
	// ErrFails says that MCP is spoken there, by a server that does not work.
	ErrFails = errors.New("proxy: the server opens no session")
)

// Meet speaks to u as clients of both eras do that reached berth under host ("": the name in
// u's URL), so that u's profile tells which of them it serves. If neither, the error is ErrHost,
// ErrOldTransport, ErrFails or one of Ping's. It ends the session that it opens. ctx bounds it.
func (s Sender) Meet(ctx context.Context, u *routing.Upstream, host string) error {
	if host == "" {
		host = u.URL.Host
	}
	var modern, legacy bool
	var fails error
	var running sync.WaitGroup
	running.Go(func() { modern = s.meetModern(ctx, u, host) })
	running.Go(func() { legacy, fails = s.meetLegacy(ctx, u, host) })
	running.Wait()
	if modern {
		s.Router.Pool.Speaks(u, mcp.EraModern, nil)
	}
	if legacy {
		s.Router.Pool.Speaks(u, mcp.EraLegacy, nil)
	}
	if modern || legacy {
		return nil
	}
	if fails != nil {
		return fails
	}
	err := s.Ping(ctx, u, host)
	switch {
	case errors.Is(err, ErrCredentials) && s.refusesHost(ctx, u, s.HostFor(u, host)):
		return fmt.Errorf("%w: it answers 403 to %q, and not to %q", ErrHost, s.HostFor(u, host), u.URL.Host)
	case (errors.Is(err, ErrNotMCP) || errors.Is(err, ErrUnclear)) && s.hasOldTransport(ctx, u, host):
		return ErrOldTransport
	}
	return err
}

// meeting makes a request as a client's, with the Host that it would reach u with.
func (s Sender) meeting(u *routing.Upstream, host, method string, body []byte) *exchange.Request {
	out := &exchange.Request{Method: method, URL: u.URL, Host: s.HostFor(u, host), Header: new(wire.Header), Body: body}
	if body != nil {
		PostJSON(out.Header)
	}
	s.Authorize(out.Header)
	return out
}

// The versions that Meet speaks.
const (
	meetingModern = "2026-07-28"
	meetingLegacy = "2025-11-25"
)

// discover asks what u is, as a modern client does.
func (s Sender) discover(ctx context.Context, u *routing.Upstream, host string) (*wire.Response, error) {
	out := s.meeting(u, host, wire.MethodPost, []byte{})
	discovers(out, meetingModern)
	return s.Client.Send(ctx, out, 0)
}

// discovers makes a request a server/discover of a modern version.
func discovers(out *exchange.Request, version string) {
	out.Header.Set(mcp.HeaderVersion, version)
	out.Header.Set(mcp.HeaderMethod, mcp.MethodDiscover)
	out.Body = OwnOpening(mcp.MethodDiscover, map[string]any{"_meta": mcp.OwnMeta(version)})
}

// initialize opens a session at u, as a legacy client does.
func (s Sender) initialize(ctx context.Context, u *routing.Upstream, host string) (*wire.Response, error) {
	return s.Client.Send(ctx, s.meeting(u, host, wire.MethodPost, OwnOpening(mcp.MethodInitialize, map[string]any{
		"protocolVersion": meetingLegacy, "capabilities": map[string]any{}, "clientInfo": mcp.OwnInfo(),
	})), 0)
}

func (s Sender) meetModern(ctx context.Context, u *routing.Upstream, host string) bool {
	response, err := s.discover(ctx, u, host)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return !RefusesDiscover(response) && serves(response)
}

// meetLegacy reports whether u opens a session. fails is what a server that does not work says.
func (s Sender) meetLegacy(ctx context.Context, u *routing.Upstream, host string) (ok bool, fails error) {
	response, err := s.initialize(ctx, u, host)
	if worded, ok := errors.AsType[*mcp.Error](err); ok { // it is berth's to start
		return false, fmt.Errorf("%w: %s", ErrFails, worded.Message)
	}
	if err != nil {
		return false, nil
	}
	defer response.Body.Close()
	defer s.leaveMeeting(ctx, u, host, response.Header.Get(mcp.HeaderSession))
	if response.Status < wire.StatusInternalServerError {
		return !RefusesEra(mcp.EraLegacy, mcp.MethodInitialize, []byte(OwnID), response) && serves(response), nil
	}
	if words := errorIn(response); words != "" {
		return false, fmt.Errorf("%w: %s", ErrFails, words)
	}
	return false, nil
}

// maxWords bounds what is read of an answer for its words.
const maxWords = 16 << 10

// errorIn is the message of an error response in JSON; "" is none.
func errorIn(response *wire.Response) string {
	body, err := io.ReadAll(io.LimitReader(response.Body, maxWords))
	var said struct {
		Message string `json:"message"`
	}
	if err != nil || json.Unmarshal(mcp.ErrorObject(body), &said) != nil {
		return ""
	}
	return said.Message
}

// leaveMeeting ends the session that a server has opened, if any.
func (s Sender) leaveMeeting(ctx context.Context, u *routing.Upstream, host, session string) {
	if session == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	out := s.meeting(u, host, wire.MethodDelete, nil)
	out.Header.Set(mcp.HeaderSession, session)
	out.Header.Set(mcp.HeaderVersion, meetingLegacy)
	if response, err := s.Client.Send(ctx, out, 0); err == nil {
		response.Body.Close()
	}
}

// serves reports whether an answer that refuses no era is one of a server that works, and lets berth in.
func serves(response *wire.Response) bool {
	return !wire.RefusesCredentials(response.Status) && response.Status < wire.StatusInternalServerError && speaksMCP(response)
}

// refusesHost reports whether u forbids what comes under this Host header, and not what comes
// under the name in its URL.
func (s Sender) refusesHost(ctx context.Context, u *routing.Upstream, host string) bool {
	forbids := func(host string) bool {
		out := s.meeting(u, "", wire.MethodPost, OwnOpening(mcp.MethodPing, nil))
		out.Host = host
		response, err := s.Client.Send(ctx, out, 0)
		if err != nil {
			return false
		}
		defer response.Body.Close()
		return response.Status == wire.StatusForbidden
	}
	return host != u.URL.Host && forbids(host) && !forbids(u.URL.Host)
}

// hasOldTransport reports whether a GET opens a stream that begins with the event "endpoint"
// (2024-11-05, "HTTP with SSE").
func (s Sender) hasOldTransport(ctx context.Context, u *routing.Upstream, host string) bool {
	out := s.meeting(u, host, wire.MethodGet, nil)
	out.Header.Set("Accept", "text/event-stream")
	response, err := s.Client.Send(ctx, out, 0)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	if response.Status != wire.StatusOK || exchange.ShapeOf(response) != exchange.EventStream {
		return false
	}
	piece, err := exchange.NewReader(exchange.EventStream, response.Body).Next()
	return err == nil && announcesEndpoint(string(piece.Raw))
}

func announcesEndpoint(event string) bool {
	for line := range strings.Lines(event) {
		if name, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "event:"); ok {
			return strings.TrimSpace(name) == "endpoint"
		}
	}
	return false
}
