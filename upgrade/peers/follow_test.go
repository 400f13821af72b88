package peers

import (
	"context"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"berth/internal/mcp"
	"berth/internal/seal"
	"berth/internal/storage"
	"berth/routing"
	"berth/upgrade/ledger"
	"berth/upgrade/quota"
	"berth/upgrade/runner"
	"berth/upgrade/task"
	"berth/upgrade/transport"
)

// oneAnswer is an exchange of one message.
type oneAnswer struct{ message []byte }

func (a *oneAnswer) Next() (transport.Message, error) {
	if a.message == nil {
		return transport.Message{}, io.EOF
	}
	message := a.message
	a.message = nil
	return transport.Message{Data: message}, nil
}

func (*oneAnswer) Close() {}

// following is a task of a holder that is gone, which follows one at upstream "u".
func following(state task.State) *task.Task {
	return &task.Task{
		ID: "a", Pool: "p", Version: "2026-07-28", Created: time.Now(), State: state, Holder: "gone", Handed: true,
		Round: 1, Upstream: "u", Follows: "theirs", Terms: task.Terms{TTL: time.Hour, Timeout: time.Hour, MaxResult: 1 << 20},
	}
}

func newPeersOn(t *testing.T, pool transport.Destination) *Peers {
	t.Helper()
	store, err := storage.Open("memory:", storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	log := slog.New(slog.DiscardHandler)
	l := ledger.New(store, "", seal.NewStoredKeyring(store), time.Minute, quota.Bounds{})
	return New(l, runner.New(l, []transport.Destination{pool}, 0, log, nil), log)
}

// After the death of who followed a task any berth that has the credentials goes on, and
// the tool is not called again; the others say that the holder is lost.
func TestFollowedTaskOutlivesItsHolder(t *testing.T) {
	for name, bare := range map[string]bool{"with credentials": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			u := &routing.Upstream{Name: "u", URL: &url.URL{Scheme: "http", Host: "u"}}
			var sent []string
			p := newPeersOn(t, transport.Destination{
				Routing: routing.NewPool(routing.PoolOptions{Name: "p", Upstreams: []*routing.Upstream{u}}),
				Transport: transport.Transport{Ask: func(_ context.Context, to *routing.Upstream, c *task.Call, _ int64) (transport.Exchange, error) {
					sent = append(sent, to.Name+" "+c.Own.Get(mcp.HeaderMethod))
					id := mcp.ID(c.Body)
					return &oneAnswer{[]byte(`{"jsonrpc":"2.0","id":` + string(id) + `,"result":{"taskId":"theirs","status":"completed","result":{}}}`)}, nil
				}},
			})
			followed := following(task.Dispatched)
			if err := p.ledger.Records.KeepCall(ctx, followed.ID, &task.Call{Body: []byte(`{}`), Envelope: task.Envelope{Bare: bare}}, time.Hour); err != nil {
				t.Fatal(err)
			}
			if _, err := p.ledger.Records.Create(ctx, followed, time.Hour); err != nil {
				t.Fatal(err)
			}
			if _, err := p.reapClaimed(ctx, followed.ID, "gone", false); err != nil {
				t.Fatal(err)
			}
			p.runner.Calls.Empty(ctx)
			e, err := p.ledger.Records.Get(ctx, followed.ID)
			want := "u " + mcp.MethodGetTask
			switch {
			case err != nil:
				t.Fatal(err)
			case bare && (e.State != task.Completed || strings.Join(sent, ",") != want):
				t.Errorf("the task is %+v, sent %q", e.Task, sent)
			case !bare && (e.State != task.Failed || len(sent) != 0):
				t.Errorf("the task is %+v, sent %q", e.Task, sent)
			}
		})
	}
}

// A task that is cancelled elsewhere before its dead holder is known to be gone has the upstream's given up by who sees to what that left.
func TestCancelWithinADeadHoldersLeaseReachesTheFollowedTask(t *testing.T) {
	for name, bare := range map[string]bool{"with credentials": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			u := &routing.Upstream{Name: "u", URL: &url.URL{Scheme: "http", Host: "u"}}
			sent := make(chan string, 10)
			p := newPeersOn(t, transport.Destination{
				Routing: routing.NewPool(routing.PoolOptions{Name: "p", Upstreams: []*routing.Upstream{u}}),
				Transport: transport.Transport{Send: func(_ context.Context, to *routing.Upstream, c *task.Call, _ int64) (transport.Exchange, error) {
					sent <- to.Name + " " + c.Own.Get(mcp.HeaderMethod) + " " + c.Own.Get(mcp.HeaderName)
					return &oneAnswer{[]byte(`{"jsonrpc":"2.0","id":` + string(mcp.ID(c.Body)) + `,"result":{}}`)}, nil
				}},
			})
			followed := following(task.Dispatched)
			if err := p.ledger.Records.KeepCall(ctx, followed.ID, &task.Call{Body: []byte(`{}`), Envelope: task.Envelope{Bare: bare}}, time.Hour); err != nil {
				t.Fatal(err)
			}
			e, err := p.ledger.Records.Create(ctx, followed, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.runner.Drop(ctx, e, p.ledger.Op(task.Cancel), &task.Envelope{}); err != nil {
				t.Fatal(err)
			}
			if len(sent) > 0 {
				t.Errorf("sent %q though the holder may live", <-sent)
			}
			if err := p.reapAll(ctx, "gone", []string{followed.ID}, false); err != nil {
				t.Fatal(err)
			}
			if bare {
				if got := <-sent; got != "u "+mcp.MethodCancelTask+" theirs" {
					t.Errorf("sent %q", got)
				}
			}
			if len(sent) > 0 {
				t.Errorf("sent %q, of which nothing is to be", <-sent)
			}
			if _, _, err := p.ledger.Records.LoadCall(ctx, followed.ID); err == nil {
				t.Error("the call is kept")
			}
		})
	}
}

// So is a call that a server holds since it asked, and whose answer the dead holder had sent on.
func TestCancelWithinADeadHoldersLeaseGivesUpTheCallThatAsked(t *testing.T) {
	ctx := context.Background()
	u := &routing.Upstream{Name: "u", URL: &url.URL{Scheme: "http", Host: "u"}}
	given := make(chan string, 10)
	p := newPeersOn(t, transport.Destination{
		Routing: routing.NewPool(routing.PoolOptions{Name: "p", Upstreams: []*routing.Upstream{u}}),
		Transport: transport.Transport{GiveUp: func(_ context.Context, to *routing.Upstream, c *task.Call) error {
			given <- to.Name + " " + string(c.Body)
			return nil
		}},
	})
	for id, state := range map[string]string{"a": `"of the call"`, "b": `"` + strings.Repeat("long", 10<<10) + `"`} {
		answered := following(task.Dispatched)
		answered.ID, answered.Follows, answered.Round, answered.Answered, answered.RequestState = id, "", 2, true, []byte(state)
		if err := p.ledger.Records.KeepCall(ctx, id, &task.Call{Body: []byte(`{}`), Envelope: task.Envelope{Bare: true}}, time.Hour); err != nil {
			t.Fatal(err)
		}
		e, err := p.ledger.Records.Create(ctx, answered, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		after, err := p.runner.Drop(ctx, e, p.ledger.Op(task.Cancel), &task.Envelope{})
		if err != nil {
			t.Fatal(err)
		}
		if len(after.RequestState) > 8<<10 {
			t.Errorf("%d bytes are kept of what is over", len(after.RequestState))
		}
		if err := p.reapAll(ctx, "gone", []string{id}, false); err != nil {
			t.Fatal(err)
		}
		if id == "a" {
			if got := <-given; !strings.HasPrefix(got, "u ") || !strings.Contains(got, `"requestState":"of the call"`) {
				t.Errorf("given up %q", got)
			}
		}
		if _, _, err := p.ledger.Records.LoadCall(ctx, id); err == nil {
			t.Error("the call is kept")
		}
	}
	if len(given) > 0 {
		t.Errorf("given up %q as well", <-given)
	}
}
