package announce

import (
	"context"
	"log/slog"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/mcp/taskwire"
	"berth/internal/wire"
	"berth/proxy/inbound"
	"berth/proxy/outbound"
	"berth/routing"
	"berth/upgrade"
)

// lister answers what it is asked with a list of tools, after a second.
type lister struct{ exchange.Sender }

func (lister) Send(ctx context.Context, out *exchange.Request, _ time.Duration) (*wire.Response, error) {
	select {
	case <-time.After(time.Second):
		return wire.Whole(wire.StatusOK, []byte(`{"jsonrpc":"2.0","id":`+string(mcp.ID(out.Body))+`,"result":{"tools":[{"name":"x","execution":{"taskSupport":"required"}}]}}`)), nil
	case <-ctx.Done():
		return nil, &exchange.SendError{Err: context.Cause(ctx), Sent: true}
	}
}

// Callers who share a question hear what it finds out, also where the one has left who asked first.
func TestAQuestionOutlivesWhoAskedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &routing.Upstream{Name: "u", URL: &url.URL{Scheme: "http", Host: "u", Path: "/mcp"}}
		ep := &inbound.Endpoint{Path: "/mcp", Router: &routing.Router{Pool: routing.NewPool(routing.PoolOptions{Name: "p", Upstreams: []*routing.Upstream{u}})}, Client: lister{}}
		call := &inbound.Call{HTTP: &wire.Request{Method: wire.MethodPost, URL: u.URL, Header: new(wire.Header)}, Endpoint: ep}
		call.Message.Calls = []mcp.Call{{Method: mcp.MethodCallTool, Name: "x"}}
		way := outbound.Way{Call: call}
		a := New("p", upgrade.Rules{{Tools: []string{"x"}}}, slog.New(slog.DiscardHandler), nil)
		says := make(chan string, 1)
		first, leave := context.WithCancel(t.Context())
		go a.says(first, way, &routing.Decision{Owner: u})
		synctest.Wait()
		go func() { says <- a.says(t.Context(), way, &routing.Decision{Owner: u}) }()
		synctest.Wait()
		leave()
		if got := <-says; got != taskwire.Required {
			t.Errorf("got %q", got)
		}
	})
}
