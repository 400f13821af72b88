package routing

import (
	"context"
	"errors"

	"berth/internal/mcp"
	"berth/routing/claim"
	"berth/routing/trail"
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

// What completes sticky's sources: unbound work, an owner that the fleet named, and berth
// itself for tasks of its own making.
const (
	SourcePicked   sticky.Source = "picked"
	SourceAsked    sticky.Source = "asked"
	SourceUpgraded sticky.Source = "upgraded"
)

// Query is what the router needs to know of a request.
type Query struct {
	Calls     []mcp.Call // one, or a batch; none for GET and DELETE
	Session   string     // Mcp-Session-Id in the legacy era; "" if there is none
	Version   string     // protocol version the client claims
	Principal string     // "" is nobody
	Caller    string     // who takes turns in asking the fleet
	LongestID int        // bytes of the longest task id in a subscription that is looked up; 0: any

	// Affinity are the values that keep calls together, those first that count more.
	// They matter to what is about no task and in no session.
	Affinity []string

	Inquirer Inquirer // what comes into play where the map does not know an id

	Trail *trail.Trail // not nil: it is only asked what would be decided, and this is told why

	home home // of the session that a task is looked for in; zero: none
}

// home is where a session is: what its sticky.Binding says.
type home struct{ upstream, alias string }

// Inquirer is a request whose id the map does not know.
type Inquirer interface {
	// Missing is called before the fleet is asked for the id or it is called unknown; its
	// error, if there is one, is told instead.
	Missing() error

	// Questions are those that are put to upstreams with the caller's credentials. They may
	// still be put when the decision that they serve is made.
	Questions() Questions
}

// Questions ask one upstream whether it knows a task, or the request's session.
type Questions struct {
	Credential string // digest of the caller's credentials: equal ones may share a question

	Task    func(ctx context.Context, u *Upstream, taskID string) Verdict
	Session func(ctx context.Context, u *Upstream) Verdict
}

// Decision says where a request goes.
type Decision struct {
	Owner   *Upstream       // nil: unbound work
	Prefer  string          // unbound work: the upstream that issued its cursor or requestState
	GoesOn  bool            // it was a requestState: that one has begun the work
	Source  sticky.Source   // where the owner was found
	Key     sticky.Key      // of the binding that decided; zero for unbound work
	Binding sticky.Binding  // the binding that decided
	Task    sticky.Key      // of the task that the call is about, if it is about one
	beside  *sticky.Binding // the binding of Task, where another one decided; nil: it was not looked up

	// Alias is the Binding.Alias that holds at Owner: what the session is called there.
	// "": what the client calls it.
	Alias string

	// Visits is set where the request is in a session that Owner does not have: one is to be opened there for it.
	Visits bool

	// Unasked is why nobody knows whether Task is at another upstream than the session, which decides then; nil: it is known.
	Unasked error

	// Narrow says that ListenIDs, the caller's own tasks, replace the task ids of a subscription
	// within a session. There may be none.
	Narrow    bool
	ListenIDs []string

	// Made are the keys of the tasks whose ids the caller makes, as far as nobody owns
	// them: to be bound to whoever gets the request, before it is sent (BindNew).
	Made []sticky.Key

	// Affinities are the request's values that keep calls together, if nothing else
	// decided.
	Affinities []Affinity
}

// TaskBinding is the binding of Task. It is the zero one where that is not known, or was not looked up: in a session without
// principals that cannot be opened anew, which decides alone. It must not be changed.
func (d *Decision) TaskBinding() *sticky.Binding {
	switch {
	case d.Task.ID != "" && d.Key.Kind == sticky.Task:
		return &d.Binding
	case d.beside != nil:
		return d.beside
	}
	return &unbound
}

var unbound sticky.Binding // is never written

// found has the request go to the owner that key is bound to.
func (d *Decision) found(owner *Upstream, source sticky.Source, key sticky.Key, binding *sticky.Binding) {
	d.reset()
	d.Owner, d.Source, d.Key, d.Binding = owner, source, key, *binding
}

// reset forgets what was found before, of another call of a batch.
func (d *Decision) reset() {
	if d.Owner != nil {
		*d = Decision{Made: d.Made}
	}
}

// Router routes the calls of one pool.
type Router struct {
	Pool        *Pool  // whose calls it routes
	Asker       *Asker // of Pool
	claim.Guard        // who owns what
}

// Decide finds the owner of what the request is about, or none for unbound work, and writes that to d, which
// is the zero one before, and with an error.
// Errors: those of this file, Inquirer.Missing's, ErrUnclear, ErrBusy, a refusal of
// Questions that nobody contradicts, or one that wraps
// storage.ErrUnavailable: then nobody can say whether the id exists.
func (r *Router) Decide(ctx context.Context, q *Query, d *Decision) (err error) {
	if q.Session != "" && !initializes(q.Calls) {
		err = r.bySession(ctx, q, d)
	} else {
		err = r.byCalls(ctx, q, d)
	}
	if err != nil {
		*d = Decision{}
	}
	return err
}

// byCalls finds the owner of what calls without a session are about.
func (r *Router) byCalls(ctx context.Context, q *Query, d *Decision) error {
	for i := range q.Calls {
		before := d.Owner
		if err := r.byCall(ctx, q, &q.Calls[i], d); err != nil {
			return err
		}
		if before != nil && !before.Is(d.Owner) {
			return ErrSeveralOwners
		}
	}
	if d.Owner != nil {
		return nil
	}
	d.Source = SourcePicked
	r.byAffinity(ctx, q, d)
	if d.Owner == nil && len(q.Calls) == 1 {
		d.Prefer, d.GoesOn = r.preferred(ctx, q), q.Calls[0].RequestState != ""
	}
	return nil
}

// byCall sets the owner of what one call without a session is about, if it is about anything
// that is owned.
func (r *Router) byCall(ctx context.Context, q *Query, call *mcp.Call, d *Decision) error {
	switch {
	case call.IsTask():
		return r.byTask(ctx, q, call, d)
	case call.MakesTask():
		return r.byNewTask(ctx, q, call, d)
	case call.Era == mcp.EraLegacy && call.Kind == mcp.KindNotification && call.RelatedTaskID != "":
		r.byRelatedTask(ctx, q, call, d)
	}
	return nil
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
