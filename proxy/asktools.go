package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/outbound"
	"berth/routing"
)

const (
	askToolsTime  = 2 * time.Second // that a call waits at most to know what its tool says
	askToolsPages = 16              // of a list that are asked for
)

// toolSays returns what a tool that a rule names says of tasks itself, "" for nothing, also
// where nobody can tell. The request has been routed: whom it would go to is asked, if no
// list has told of late.
func (x *request) toolSays(tool string) string {
	support := &x.p.learned[x.Endpoint].support
	if says, known := support.of(tool); known {
		return says
	}
	// Callers with equal credentials share a question: what it finds out is the tool's.
	flight := x.Principal + "\x00" + x.Credential + "\x00" + tool
	says, _, _ := support.asking.Do(flight, func() (any, error) {
		says, known := support.of(tool)
		if known {
			return says, nil
		}
		if err := x.askTools(tool); err != nil {
			x.p.log.Debug("what a tool says of tasks is not known", "pool", x.PoolName(), "error", err)
		}
		if says, known = support.of(tool); !known {
			support.miss(tool)
		}
		return says, nil
	})
	return says.(string)
}

// askTools asks for lists of tools until one of them has told of this one, and learns what
// all in them say.
func (x *request) askTools(tool string) error {
	ctx, cancel := context.WithTimeout(x.ctx, askToolsTime)
	defer cancel()
	lease, err := x.leaseHome()
	if err != nil {
		return err
	}
	defer lease.Release()
	cursor := ""
	for range askToolsPages {
		message, err := x.askToolsPage(ctx, lease.Upstream, cursor)
		if err != nil {
			return err
		}
		mcp.AddTaskSupport(message, func(tool, says string) string {
			x.supportOf(tool, says)
			return ""
		})
		if _, known := x.p.learned[x.Endpoint].support.of(tool); known {
			return nil
		}
		a, err := mcp.PeekAnswer(message, false)
		if cursor = a.NextCursor; err != nil || cursor == "" {
			return err
		}
	}
	return errors.New("proxy: the list of tools goes on for too long")
}

// leaseHome takes up the upstream that the request would go to.
func (x *request) leaseHome() (*routing.Lease, error) {
	if owner := x.decision.Owner; owner != nil {
		return x.Pool().Own(owner), nil
	}
	return x.Pool().Pick(x.Era(), x.decision.Prefer, nil)
}

// askToolsPage asks u for one page of its list of tools, in the caller's name and session.
func (x *request) askToolsPage(ctx context.Context, u *routing.Upstream, cursor string) ([]byte, error) {
	body := map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(outbound.OwnID), "method": mcp.MethodListTools}
	if cursor != "" {
		body["params"] = map[string]any{"cursor": cursor}
	}
	data, _ := json.Marshal(body) // strings and maps always marshal
	out := x.way().Post(u, data)
	out.Header.Set(mcp.HeaderVersion, x.Negotiated(&x.decision))
	response, err := x.Endpoint.Client.Send(ctx, out, 0)
	if err != nil {
		var failed *exchange.SendError
		if errors.As(err, &failed) && ctx.Err() == nil {
			outbound.To(x.Endpoint).NoteFailure(u, failed)
		}
		return nil, err
	}
	defer response.Body.Close()
	if response.Status != wire.StatusOK {
		return nil, fmt.Errorf("proxy: a list of tools was answered with %d", response.Status)
	}
	return exchange.ReadWhole(response, []byte(outbound.OwnID), maxListed, x.crossedBy(u))
}
