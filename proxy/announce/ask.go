package announce

import (
	"context"
	"errors"
	"fmt"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/mcp/taskwire"
	"berth/internal/wire"
	"berth/proxy/outbound"
	"berth/routing"
	"berth/sticky"
)

const (
	askTime  = 2 * time.Second // that a call waits at most to know what its tool says
	askPages = 16              // of a list that are asked for
)

// MayMakeTask reports whether berth makes a task of the call that way is for, which was routed
// to at, and whose tool a rule names. A server with tasks of its own keeps the tools that are
// part of that; what tools say whose server has none is void.
func (a *Announcer) MayMakeTask(ctx context.Context, way outbound.Way, at *routing.Decision) bool {
	return a.Promised(at) == sticky.TasksAdded || !saysSomething(a.says(ctx, way, at))
}

// says returns what the call's tool says of tasks itself, "" for nothing, also where nobody can
// tell. Whom the call would go to is asked, if no list has told of late.
func (a *Announcer) says(ctx context.Context, way outbound.Way, at *routing.Decision) string {
	tool := way.Single().Name
	if says, known := a.support.of(tool); known {
		return says
	}
	// Callers with equal credentials share a question: what it finds out is the tool's, that it finds out nothing is theirs.
	flight := way.Principal + "\x00" + way.Credential() + "\x00" + tool
	says, _, _ := a.support.asking.Do(flight, func() (any, error) {
		says, known := a.support.of(tool)
		if known || a.support.missed(flight) {
			return says, nil
		}
		if err := a.ask(ctx, way, at, tool); err != nil {
			a.log.Debug("what a tool says of tasks is not known", "pool", a.pool, "error", err)
		}
		if says, known = a.support.of(tool); !known {
			a.support.miss(flight)
		}
		return says, nil
	})
	return says.(string)
}

// ask asks for lists of tools until one of them has told of this one, and learns what all in
// them say.
func (a *Announcer) ask(ctx context.Context, way outbound.Way, at *routing.Decision, tool string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime) // others wait for the same
	defer cancel()
	lease, err := leaseHome(way, at)
	if err != nil {
		return err
	}
	defer lease.Release()
	cursor := ""
	for range askPages {
		message, err := askPage(ctx, way, way.Negotiated(at), lease.Upstream, cursor)
		if err != nil {
			return err
		}
		taskwire.AddSupport(message, func(tool, says string) string {
			a.supportOf(tool, says)
			return ""
		})
		if _, known := a.support.of(tool); known {
			return nil
		}
		answer, err := mcp.PeekAnswer(message, false)
		if cursor = answer.NextCursor; err != nil || cursor == "" {
			return err
		}
	}
	return errors.New("proxy: the list of tools goes on for too long")
}

// leaseHome takes up the upstream that the call would go to.
func leaseHome(way outbound.Way, at *routing.Decision) (*routing.Lease, error) {
	if at.Owner != nil {
		return way.Pool().Own(at.Owner), nil
	}
	return way.Pool().Pick(way.Work(at.Prefer), nil)
}

// askPage asks u for one page of its list of tools, in the caller's name and session.
func askPage(ctx context.Context, way outbound.Way, version string, u *routing.Upstream, cursor string) ([]byte, error) {
	params := map[string]any{}
	if cursor != "" {
		params["cursor"] = cursor
	}
	out := way.Post(u, outbound.OwnMessage(mcp.MethodListTools, params))
	out.Header.Set(mcp.HeaderVersion, version)
	response, err := outbound.To(way.Endpoint).Send(ctx, u, out, outbound.Terms{})
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.Status != wire.StatusOK {
		return nil, fmt.Errorf("proxy: a list of tools was answered with %d", response.Status)
	}
	return exchange.ReadWhole(response, mcp.ID(out.Body), maxListed, way.Crossed(u))
}
