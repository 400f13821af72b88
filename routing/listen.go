package routing

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"berth/internal/mcp"
	"berth/internal/storage"
	"berth/sticky"

	"golang.org/x/sync/errgroup"
)

// MaxListenIDs is how many task ids of one subscription are looked up.
const MaxListenIDs = 256

// Other bounds of what one subscription may cause.
const (
	maxListenAsks   = 8               // of these, ids that the fleet is asked for
	listenAtOnce    = 8               // look-ups under way
	listenPatience  = 2 * time.Second // for all of them; then an acknowledgement is due
	listenAskAtOnce = 2               // questions under way, of the pool's askInFlight
)

// Listened is a task that a subscription names, and its owner.
type Listened struct {
	ID      string // as the client wrote it
	Owner   *Upstream
	Source  sticky.Source  // where the owner was found
	Key     sticky.Key     // of the task's binding
	Binding sticky.Binding // as it stands; its status is what a client was last told
}

// Audience is what is known of the tasks that a subscription names.
type Audience struct {
	Tasks []Listened // with an owner, in the order that the client named them

	// Unjudged are ids that the map does not know and the fleet was not asked for.
	// Without principals an upstream may judge them; with principals there are none.
	Unjudged []string

	// Unknown counts the ids that the map does not know and the fleet did not find.
	Unknown int
}

// Audience finds the owners of the task ids of a subscription, which is q's only
// call. Ids that do not exist or cannot, are another principal's, or whose owner cannot
// be found now are left out. The error wraps storage.ErrUnavailable if the store cannot
// tell whose an id is: such an id is not to be left out as if it were another's.
func (r *Router) Audience(ctx context.Context, q Query) (Audience, error) {
	ctx, cancel := context.WithTimeout(ctx, listenPatience)
	defer cancel()
	call := &q.Calls[0]
	longest := cmp.Or(q.LongestID, math.MaxInt)
	ids := slices.DeleteFunc(ListenIDs(call.Listen.TaskIDs()), func(id string) bool { return !mcp.IsTaskID(id, longest) })
	found := make([]lookedUp, len(ids))
	r.lookUpAll(ctx, q.Principal, ids, found)
	r.askForAll(ctx, &q, call, found)
	var a Audience
	for _, f := range found {
		switch {
		case f.err == nil:
			a.Tasks = append(a.Tasks, f.Listened)
		case errors.Is(f.err, storage.ErrUnavailable):
			return Audience{}, f.err
		case f.unjudged && !r.Principals:
			a.Unjudged = append(a.Unjudged, f.ID)
		}
		if f.err != nil && !errors.Is(f.err, ErrOwnerGone) {
			a.Unknown++
		}
	}
	return a, nil
}

// lookedUp is what became of one id.
type lookedUp struct {
	Listened
	err      error // nil: it has an owner
	unjudged bool  // the map does not know it, and the fleet was not asked
}

func (r *Router) lookUpAll(ctx context.Context, principal string, ids []string, found []lookedUp) {
	var group errgroup.Group
	group.SetLimit(listenAtOnce)
	for i, id := range ids {
		group.Go(func() error {
			found[i] = r.lookUpListened(ctx, r.key(sticky.Task, principal, id))
			return nil
		})
	}
	_ = group.Wait() // no look-up fails the others
}

func (r *Router) lookUpListened(ctx context.Context, key sticky.Key) lookedUp {
	binding, source, err := r.LookUp(ctx, key)
	found := lookedUp{Listened: Listened{ID: key.ID, Source: source, Key: key, Binding: binding}, err: err}
	switch {
	case err == nil:
		if found.Owner = r.Pool.Owner(ctx, binding.Upstream); found.Owner == nil {
			found.err = ErrOwnerGone
		}
	case !errors.Is(err, sticky.ErrUnknown):
		found.err = denied(sticky.Task, err)
	}
	found.unjudged = found.err != nil
	return found
}

// askForAll asks the fleet for the first of the ids that the map does not know, as
// it would for a poll.
func (r *Router) askForAll(ctx context.Context, q *Query, call *mcp.Call, found []lookedUp) {
	if !call.DeclaresTasks {
		return
	}
	var group errgroup.Group
	group.SetLimit(listenAskAtOnce)
	asked := 0
	for i := range found {
		f := &found[i]
		if f.err == nil || asked == maxListenAsks {
			continue
		}
		asked++
		group.Go(func() error {
			r.askForListened(ctx, q, call, f)
			return nil
		})
	}
	_ = group.Wait() // no question fails the others
}

func (r *Router) askForListened(ctx context.Context, q *Query, call *mcp.Call, f *lookedUp) {
	one := *call
	one.TaskID = f.ID
	var d Decision
	f.err, f.unjudged = r.byTask(ctx, q, &one, &d), false
	if f.err == nil {
		f.Owner, f.Source, f.Binding = d.Owner, d.Source, d.Binding
	}
}

// ListenIDs returns the ids of a subscription that are looked up: the first ones, each
// once, MaxListenIDs at most.
func ListenIDs(ids []string) []string {
	seen := make(map[string]bool, len(ids))
	var out []string
	for _, id := range ids {
		if !seen[id] && len(out) < MaxListenIDs {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}
