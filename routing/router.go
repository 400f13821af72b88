package routing

import (
	"context"
	"errors"

	"berth/internal/mcp"
	"berth/sticky"
)

// What a router cannot route, and why.
var (
	ErrUnknownTask    = errors.New("routing: unknown task")
	ErrUnknownSession = errors.New("routing: unknown session")
	ErrUndeclared     = errors.New("routing: unknown task, and the call does not declare the Tasks extension")
	ErrOwnerGone      = errors.New("routing: the owner is not in the pool any more")
	ErrSeveralOwners  = errors.New("routing: the batch is about tasks of several owners")
)

// SourcePicked and SourceAsked complete sticky's sources: unbound work, and an
// owner that the fleet named.
const (
	SourcePicked sticky.Source = "picked"
	SourceAsked  sticky.Source = "asked"
)

// Query is what the router needs to know of a request.
type Query struct {
	Calls      []mcp.Call // one, or a batch; none for GET and DELETE
	Session    string     // Mcp-Session-Id in the legacy era; "" if there is none
	Version    string     // protocol version the client claims
	Principal  string     // "" is nobody
	Credential string     // digest of the caller's credentials: equal ones may share a question
	Caller     string     // who takes turns in asking the fleet
	LongestID  int        // bytes of the longest task id in a subscription that is looked up; 0: any

	// Affinity are the values that keep calls together, those first that count more.
	// They matter to what is about no task and in no session.
	Affinity []string

	// Miss is called when the map does not know an id, before the fleet is asked for it
	// or it is called unknown; its error, if there is one, is told instead. nil: nothing
	// is called.
	Miss func() error

	// AskTask and AskSession ask one upstream whether it knows the task, or the
	// session, with the caller's credentials.
	AskTask    func(ctx context.Context, u *Upstream, taskID string) Verdict
	AskSession func(ctx context.Context, u *Upstream) Verdict

	home sticky.Binding // of the session that a task is looked for in; zero: none
}

// Decision says where a request goes.
type Decision struct {
	Owner   *Upstream      // nil: unbound work
	Prefer  string         // unbound work: the upstream that issued its cursor or requestState
	Source  sticky.Source  // where the owner was found
	Key     sticky.Key     // of the binding that decided; zero for unbound work
	Binding sticky.Binding // the binding that decided
	Task    sticky.Key     // of the task that the call is about, if it is about one

	// TaskBinding is the task's own binding, if it was looked up: not in a session
	// without principals that never moved, which decides alone.
	TaskBinding sticky.Binding

	// Alias is the Binding.Alias that holds at Owner: what the session is called there.
	// "": what the client calls it.
	Alias string

	// ListenIDs are, where Narrow is set, the task ids that replace those of a
	// subscription within a session: the caller's own.
	ListenIDs []string
	Narrow    bool

	// Made are the keys of the tasks whose ids the caller makes, as far as nobody owns
	// them: to be bound to whoever gets the request, before it is sent (BindNew).
	Made []sticky.Key

	// Affinities are the request's values that keep calls together, if nothing else
	// decided.
	Affinities []Affinity
}

// Router routes the calls of one pool.
type Router struct {
	Pool       *Pool            // whose calls it routes
	Bindings   *sticky.Bindings // of all pools
	Asker      *Asker           // of Pool
	Principals bool             // tasks and sessions are bound to principals
	Recover    bool             // with principals: ask the fleet for ids the map does not know
}

// Decide finds the owner of what the request is about, or none for unbound work.
// Errors: those of this file, Query.Miss's, ErrUnclear, ErrBusy, a refusal of AskTask's or
// AskSession's that nobody contradicts, or one that wraps
// storage.ErrUnavailable: then nobody can say whether the id exists.
func (r *Router) Decide(ctx context.Context, q Query) (Decision, error) {
	if q.Session != "" && !initializes(q.Calls) {
		return r.bySession(ctx, q)
	}
	d := Decision{Source: SourcePicked}
	var made []sticky.Key
	for i := range q.Calls {
		next, err := r.byCall(ctx, q, &q.Calls[i])
		if err != nil {
			return Decision{}, err
		}
		made = append(made, next.Made...)
		if next.Owner == nil {
			continue
		}
		if d.Owner != nil && d.Owner != next.Owner {
			return Decision{}, ErrSeveralOwners
		}
		d = next
	}
	d.Made = made
	if d.Owner == nil {
		r.byAffinity(ctx, q, &d)
	}
	if d.Owner == nil && len(q.Calls) == 1 {
		d.Prefer = r.preferred(ctx, q)
	}
	return d, nil
}

// byCall finds the owner of what one call without a session is about; none if it is about
// nothing that is owned.
func (r *Router) byCall(ctx context.Context, q Query, call *mcp.Call) (Decision, error) {
	switch {
	case call.IsTask():
		return r.byTask(ctx, q, call)
	case call.MakesTask():
		return r.byNewTask(ctx, q, call)
	case call.Era == mcp.EraLegacy && call.Kind == mcp.KindNotification && call.RelatedTaskID != "":
		return r.byRelatedTask(ctx, q, call), nil
	}
	return Decision{}, nil
}

func (r *Router) key(kind sticky.Kind, principal, id string) sticky.Key {
	return sticky.Key{Kind: kind, Pool: r.Pool.name, Principal: principal, ID: id}
}

// TaskKey returns the key of a task of this pool.
func (r *Router) TaskKey(principal, id string) sticky.Key { return r.key(sticky.Task, principal, id) }

// SessionKey returns the key of a session of this pool.
func (r *Router) SessionKey(principal, id string) sticky.Key {
	return r.key(sticky.Session, principal, id)
}
