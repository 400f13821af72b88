package routing

import (
	"context"
	"errors"
	"fmt"

	"berth/internal/mcp"
	"berth/internal/storage"
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
	Pool       *Pool
	Bindings   *sticky.Bindings // of all pools
	Asker      *Asker           // of Pool
	Principals bool             // tasks and sessions are bound to principals
	Recover    bool             // with principals: ask the fleet for ids the map does not know
}

// Decide finds the owner of what the request is about, or none for unbound work.
// Errors: those of this file, Query.Miss's, ErrUnclear, ErrBusy, or one that wraps
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

func initializes(calls []mcp.Call) bool {
	return len(calls) == 1 && calls[0].Method == mcp.MethodInitialize
}

func subscribes(calls []mcp.Call) bool {
	return len(calls) == 1 && calls[0].Method == mcp.MethodListen
}

// bySession: on legacy calls the session decides alone. With principals a task
// must be the caller's own besides, or the session would be a way around.
func (r *Router) bySession(ctx context.Context, q Query) (Decision, error) {
	key := r.key(sticky.Session, q.Principal, q.Session)
	d, err := r.owner(ctx, q, key, sticky.Binding{Version: q.Version}, q.AskSession)
	if err != nil {
		return Decision{}, err
	}
	r.touch(key, d.Binding)
	d.Alias, q.home = d.Binding.Alias, d.Binding
	if r.Principals && subscribes(q.Calls) {
		own, err := r.Audience(ctx, q)
		if err != nil {
			return Decision{}, err
		}
		for _, task := range own.Tasks {
			d.ListenIDs = append(d.ListenIDs, task.ID)
		}
		d.Narrow = true
	}
	for i := range q.Calls {
		if q.Calls[i].MakesTask() {
			d.Made = append(d.Made, r.key(sticky.Task, q.Principal, q.Calls[i].NewTaskID))
		}
		if !q.Calls[i].IsTask() {
			continue
		}
		d.Task = r.key(sticky.Task, q.Principal, q.Calls[i].TaskID)
		if r.Principals {
			own, err := r.byTask(ctx, q, &q.Calls[i])
			if err != nil {
				return Decision{}, err
			}
			d.TaskBinding = own.Binding
		}
		if d.Binding.Alias != "" {
			if err := r.followTask(ctx, q, &d); err != nil {
				return Decision{}, err
			}
		}
	}
	return d, nil
}

func (r *Router) byTask(ctx context.Context, q Query, call *mcp.Call) (Decision, error) {
	key := r.key(sticky.Task, q.Principal, call.TaskID)
	ask := func(ctx context.Context, u *Upstream) Verdict { return q.AskTask(ctx, u, call.TaskID) }
	learned := sticky.Binding{Dialect: mcp.DialectCore.String()}
	if call.Era == mcp.EraModern {
		learned.Dialect = mcp.DialectExtension.String()
		if !call.DeclaresTasks {
			ask = nil
		}
	}
	d, err := r.owner(ctx, q, key, learned, ask)
	d.Task, d.TaskBinding = key, d.Binding
	return d, err
}

// owner looks key up and, if the map cannot tell, asks the fleet. A nil ask means
// that the caller may not ask.
func (r *Router) owner(ctx context.Context, q Query, key sticky.Key, learned sticky.Binding, ask func(context.Context, *Upstream) Verdict) (Decision, error) {
	binding, source, missing := r.Bindings.Lookup(ctx, key)
	if missing == nil {
		if u := r.Pool.Find(binding.Upstream); u != nil {
			return Decision{Owner: u, Source: source, Key: key, Binding: binding}, nil
		}
		missing = ErrOwnerGone
	}
	if ctx.Err() != nil {
		return Decision{}, context.Cause(ctx)
	}
	if ask == nil {
		return Decision{}, ErrUndeclared
	}
	if q.Miss != nil && !errors.Is(missing, ErrOwnerGone) {
		if err := q.Miss(); err != nil {
			return Decision{}, err
		}
	}
	if r.Principals && !r.Recover {
		return Decision{}, denied(key.Kind, missing)
	}
	foreign, err := r.isForeign(ctx, key)
	if err != nil {
		return Decision{}, err
	}
	u, err := r.Asker.Ask(ctx, Question{Key: string(key.Kind) + "\x00" + key.Principal + "\x00" + q.Credential + "\x00" + key.ID, Caller: q.Caller, Ask: ask})
	switch {
	case errors.Is(err, ErrDenied), errors.Is(err, ErrUnclear) && errors.Is(missing, storage.ErrUnavailable):
		return Decision{}, denied(key.Kind, missing)
	case err != nil:
		return Decision{}, err
	case foreign:
		return Decision{}, denied(key.Kind, sticky.ErrUnknown)
	}
	if u.Name == q.home.Upstream {
		learned.Alias = q.home.Alias // it was asked under that name
	}
	return r.learn(ctx, key, learned, u, missing)
}

// learn binds what the fleet told. If the map knows another owner by now, that
// one counts: the first wins.
func (r *Router) learn(ctx context.Context, key sticky.Key, binding sticky.Binding, u *Upstream, missing error) (Decision, error) {
	if errors.Is(missing, ErrOwnerGone) {
		r.Bindings.Unbind(ctx, key)
	}
	binding.Upstream = u.Name
	if err := r.Bind(ctx, key, binding, 0); errors.Is(err, sticky.ErrOwned) {
		standing, source, err := r.Bindings.Lookup(ctx, key)
		if owner := r.Pool.Find(standing.Upstream); err == nil && owner != nil {
			return Decision{Owner: owner, Source: source, Key: key, Binding: standing}, nil
		}
	}
	return Decision{Owner: u, Source: SourceAsked, Key: key, Binding: binding}, nil
}

// denied words what it means that nobody knows the id, given why the map did not:
// only a map that was asked can make it unknown.
// A session whose owner is gone is unknown too: its client can begin a new one.
func denied(kind sticky.Kind, missing error) error {
	unknown, gone := errors.Is(missing, sticky.ErrUnknown), errors.Is(missing, ErrOwnerGone)
	switch {
	case kind == sticky.Session && (unknown || gone):
		return ErrUnknownSession
	case unknown:
		return ErrUnknownTask
	case gone, errors.Is(missing, storage.ErrUnavailable):
		return missing
	}
	return fmt.Errorf("%w: %w", storage.ErrUnavailable, missing)
}

// preferred returns the upstream that issued the call's requestState or cursor.
func (r *Router) preferred(ctx context.Context, q Query) string {
	c := &q.Calls[0]
	hint := HintID(c.Method, c.RequestState, c.Cursor)
	if hint == "" {
		return ""
	}
	binding, _, err := r.Bindings.Lookup(ctx, r.key(sticky.Hint, q.Principal, hint))
	if err != nil {
		return ""
	}
	return binding.Upstream
}

// HintID names a requestState or, failing that, a list's cursor; "" if there is
// neither. A list of tasks needs no hint: its session has an owner, and without one
// its cursor says where it goes on.
func HintID(method, requestState, cursor string) string {
	switch {
	case requestState != "":
		return "state\x00" + requestState
	case cursor != "" && method != mcp.MethodListTasks:
		return method + "\x00" + cursor
	}
	return ""
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

// HintKey returns the key of a cursor or requestState of this pool.
func (r *Router) HintKey(principal, hint string) sticky.Key {
	return r.key(sticky.Hint, principal, hint)
}
