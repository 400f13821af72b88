package upgrade

import (
	"context"
	"errors"
	"io"
	"net/url"
	"strings"
	"testing"
	"time"

	"berth/internal/mcp"
	"berth/internal/seal"
	"berth/internal/storage"
	"berth/routing"
	"berth/upgrade/task"
)

// oneAnswer is an exchange of one message.
type oneAnswer struct{ message []byte }

func (a *oneAnswer) Next() (Message, error) {
	if a.message == nil {
		return Message{}, io.EOF
	}
	message := a.message
	a.message = nil
	return Message{Data: message}, nil
}

func (*oneAnswer) Close() {}

// following is a task of a holder that is gone, which follows one at upstream "u".
func following(state State) Task {
	return Task{
		ID: "a", Pool: "p", Version: "2026-07-28", Created: time.Now(), State: state, Holder: "gone", Handed: true,
		Round: 1, Upstream: "u", Follows: "theirs", Terms: task.Terms{TTL: time.Hour, Timeout: time.Hour, MaxResult: 1 << 20},
	}
}

func TestFollowIsAStepOfTheRound(t *testing.T) {
	asked := following(Dispatched)
	asked.Follows, asked.Answered, asked.RequestState = "", true, []byte(`"s"`)
	asked.Asks = []Ask{{Key: "k", Upstream: "k", Answer: []byte("{}")}}
	op := task.Op{ID: "1", Kind: task.Follow, Holder: "gone", Round: 1, Upstream: "u", Follows: "theirs"}
	next, changed, err := task.Transition(asked, op)
	if err != nil || !changed || next.Follows != "theirs" || next.State != Dispatched {
		t.Fatalf("got %+v, %v, %v", next, changed, err)
	}
	if next.Answered || next.Asks != nil || next.RequestState != nil || len(next.Asked) != 1 {
		t.Errorf("what was asked before is still open: %+v", next)
	}
	if _, changed, err := task.Transition(next, op); changed || err != nil {
		t.Errorf("repeated: %v, %v", changed, err)
	}
	for name, stale := range map[string]task.Op{
		"another round":  {ID: "2", Kind: task.Follow, Holder: "gone", Round: 2},
		"another holder": {ID: "2", Kind: task.Follow, Holder: "x", Round: 1},
	} {
		if _, _, err := task.Transition(asked, stale); !errors.Is(err, task.ErrStale) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ended, _, err := task.Transition(next, task.Op{ID: "3", Kind: task.Cancel})
	if err != nil || ended.Follows != "" {
		t.Errorf("ended: %+v, %v", ended, err)
	}
}

// What runs at the upstream runs: a followed task waits for no place there.
func TestFollowedTaskDoesNotQueue(t *testing.T) {
	waiting := following(InputRequired)
	waiting.Holder, waiting.Terms.Slots = "", 1
	waiting.Asks = []Ask{{Key: "k", Upstream: "k"}}
	next, _, err := task.Transition(waiting, task.Op{ID: "1", Kind: task.Answer, Holder: "h", Answers: []mcp.Input{{Key: "k", Value: []byte("{}")}}})
	if err != nil || next.State != Accepted || next.Holder != "h" || next.Follows == "" {
		t.Errorf("answered: %+v, %v", next, err)
	}
	running := following(Dispatched)
	running.Terms.Slots = 1
	next, _, err = task.Transition(running, task.Op{ID: "1", Kind: task.Adopt, Of: "gone", Holder: "h"})
	if err != nil || next.State != Accepted || next.Holder != "h" || next.Follows == "" {
		t.Errorf("adopted: %+v, %v", next, err)
	}
}

func newTasksOn(t *testing.T, pools ...Pool) *Tasks {
	t.Helper()
	store, err := storage.Open("memory:", storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return New(Options{Store: store, Keys: seal.NewStoredKeyring(store), Pools: pools})
}

// After the death of who followed a task any berth that has the credentials goes on, and
// the tool is not called again; the others say that the holder is lost.
func TestFollowedTaskOutlivesItsHolder(t *testing.T) {
	for name, bare := range map[string]bool{"with credentials": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			u := &routing.Upstream{Name: "u", URL: &url.URL{Scheme: "http", Host: "u"}}
			var sent []string
			tasks := newTasksOn(t, Pool{
				Routing: routing.NewPool(routing.PoolOptions{Name: "p", Upstreams: []*routing.Upstream{u}}),
				Transport: Transport{Send: func(_ context.Context, to *routing.Upstream, c *Call, _ int64) (Exchange, error) {
					sent = append(sent, to.Name+" "+c.Own[mcp.HeaderMethod][0])
					id := mcp.ID(c.Body)
					return &oneAnswer{[]byte(`{"jsonrpc":"2.0","id":` + string(id) + `,"result":{"taskId":"theirs","status":"completed","result":{}}}`)}, nil
				}},
			})
			task := following(Dispatched)
			if err := tasks.ledger.Records.KeepCall(ctx, task.ID, &Call{Body: []byte(`{}`), Envelope: Envelope{Bare: bare}}, time.Hour); err != nil {
				t.Fatal(err)
			}
			if _, err := tasks.ledger.Records.Create(ctx, task, time.Hour); err != nil {
				t.Fatal(err)
			}
			if _, err := tasks.peers.reapClaimed(ctx, task.ID, "gone"); err != nil {
				t.Fatal(err)
			}
			tasks.runner.Calls.Empty(ctx)
			e, err := tasks.ledger.Records.Get(ctx, task.ID)
			want := "u " + mcp.MethodGetTask
			switch {
			case err != nil:
				t.Fatal(err)
			case bare && (e.State != Completed || strings.Join(sent, ",") != want):
				t.Errorf("the task is %+v, sent %q", e.Task, sent)
			case !bare && (e.State != Failed || len(sent) != 0):
				t.Errorf("the task is %+v, sent %q", e.Task, sent)
			}
		})
	}
}
