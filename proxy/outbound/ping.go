package outbound

import (
	"context"
	"errors"
	"fmt"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/routing"
)

// What an upstream's answer to a ping says, if not that MCP is spoken there.
var (
	// ErrNotMCP says that this is no MCP endpoint, or none that works.
	ErrNotMCP = errors.New("proxy: no MCP endpoint answers there")
	// ErrUnclear says that it may be one: some servers refuse what they did not expect
	// in plain words.
	ErrUnclear = errors.New("proxy: it cannot be told whether an MCP endpoint answers there")
	// ErrCredentials says that other credentials are asked for than berth has.
	ErrCredentials = errors.New("proxy: the upstream asks for other credentials")
)

// Ping sends u a ping, as calls are sent to it for clients that reached berth under host ("": the name in u's URL), and returns
// nil if the answer is JSON-RPC, be it an error; else one of ErrNotMCP, ErrUnclear and ErrCredentials,
// or why there was no answer. ctx bounds it. The errors repeat nothing of what was sent.
func (s Sender) Ping(ctx context.Context, u *routing.Upstream, host string) error {
	response, err := s.Client.Send(ctx, s.meeting(u, host, wire.MethodPost, OwnOpening(mcp.MethodPing, nil)), 0)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	switch status := response.Status; {
	case wire.RefusesCredentials(status):
		return fmt.Errorf("%w: it answers %d", ErrCredentials, status)
	case speaksMCP(response):
		return nil
	case status >= 300 && status < 400:
		return fmt.Errorf("%w: it answers %d, and redirects are not followed", ErrNotMCP, status)
	case status < 400 || status >= 500 || status == wire.StatusNotFound || status == wire.StatusMethodNotAllowed:
		return fmt.Errorf("%w: it answers %d, not in JSON-RPC", ErrNotMCP, status)
	default:
		return fmt.Errorf("%w: it answers %d, not in JSON-RPC", ErrUnclear, status)
	}
}

// speaksMCP reports whether response holds an answer in JSON-RPC. In an HTTP error it may be
// to any id: some servers make one up there.
func speaksMCP(response *wire.Response) bool {
	refused := false
	a, err := OwnAnswer(response, []byte(OwnID), func() { refused = response.Status >= 400 })
	return err == nil && (a.IsError || a.HasResult || refused)
}

// Probe returns a function that asks an upstream for any sign of life in the era that it speaks, over client.
// Whatever the upstream answers, it is there; an error means that it did not.
func Probe(client exchange.Sender) func(ctx context.Context, u *routing.Upstream) error {
	return func(ctx context.Context, u *routing.Upstream) error {
		out := &exchange.Request{Method: wire.MethodPost, URL: u.URL, Header: new(wire.Header), Body: OwnOpening(mcp.MethodPing, nil)}
		PostJSON(out.Header)
		if modern, known := u.SpeaksModern(); known && modern {
			discovers(out, meetingModern)
		}
		response, err := client.Send(ctx, out, 0)
		if err != nil {
			return err
		}
		return response.Body.Close()
	}
}
