package ledger

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"berth/internal/mcp"
	"berth/upgrade/task"
)

// OpenAsk is a request of an upstream's that its client has not answered.
type OpenAsk struct {
	Task string
	ID   []byte // JSON-RPC id, as mcp.IDKey spells it
}

// Asks are what upstreams ask mid-call, by their sessions.
type Asks struct{ lists Lists }

// AskName is how an ask is listed.
func AskName(task, id string) string { return task + " " + id }

// settled stands in the place of the task in the name of an ask that is open no more. No
// task has it for its id.
const settled = "-"

// settledLife is how long it is known that an ask was settled: a stream that is resumed
// may bring it again.
const settledLife = time.Hour

// Remove notes that an ask of a task's is open no more.
func (a Asks) Remove(ctx context.Context, t *task.Task, key string) error {
	list := a.lists.AsksIn(t.Behind)
	if err := a.lists.Add(ctx, list, AskName(settled, key), settledLife, 0); err != nil {
		return err
	}
	return a.lists.store.RemoveMember(ctx, list, AskName(t.ID, key))
}

// Add lists what a call asks, for life.
func (a Asks) Add(ctx context.Context, t *task.Task, life time.Duration) error {
	if t.Session == "" {
		return nil
	}
	for _, ask := range t.OpenAsks() {
		if err := a.lists.Add(ctx, a.lists.AsksIn(t.Behind), AskName(t.ID, ask.Key), life+Spare, 0); err != nil {
			return err
		}
	}
	return nil
}

// Close removes what a call has left open. That is not settled: it may be another
// call's, which a stream that was resumed has replayed into this one.
func (a Asks) Close(ctx context.Context, t *task.Task) error {
	open, err := a.Open(ctx, t.Behind)
	for _, ask := range open {
		if ask.Task == t.ID {
			err = errors.Join(err, a.lists.store.RemoveMember(ctx, a.lists.AsksIn(t.Behind), AskName(t.ID, string(ask.ID))))
		}
	}
	return err
}

// all returns what was asked in an upstream's session, settled or not.
func (a Asks) all(ctx context.Context, behind string) ([]OpenAsk, error) {
	listed, err := a.lists.store.Members(ctx, a.lists.AsksIn(behind))
	asked := make([]OpenAsk, 0, len(listed))
	for _, name := range listed {
		if task, id, ok := strings.Cut(name, " "); ok {
			asked = append(asked, OpenAsk{task, []byte(id)})
		}
	}
	return asked, err
}

// Open returns what is waited for in an upstream's session.
func (a Asks) Open(ctx context.Context, behind string) ([]OpenAsk, error) {
	asked, err := a.all(ctx, behind)
	return slices.DeleteFunc(asked, func(ask OpenAsk) bool { return ask.Task == settled }), err
}

// By returns the task in whose call an ask came, settled if it is open no more; "" if
// it did not come.
func (a Asks) By(ctx context.Context, behind, key string) (task string, err error) {
	asked, err := a.all(ctx, behind)
	return askedBy(asked, key), err
}

// Waiting returns the task whose upstream waits, in the session that BehindKey names, for
// the response with this raw id; "" if none does. The error wraps storage.ErrUnavailable.
func (a Asks) Waiting(ctx context.Context, behind string, id []byte) (task string, err error) {
	open, err := a.Open(ctx, behind)
	return askedBy(open, mcp.IDKey(id)), err
}

func askedBy(asked []OpenAsk, key string) (task string) {
	if at := slices.IndexFunc(asked, func(ask OpenAsk) bool { return string(ask.ID) == key }); at >= 0 {
		return asked[at].Task
	}
	return ""
}
