package polls

import (
	"context"
	"sync"
	"time"

	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/proxy/inbound"
	"berth/sticky"
)

// Poll is one poll under way to its upstream, and those who wait for its answer. The one
// whose request it is leads. As a context it is that of the request: it ends when nobody
// waits any more, and not with the leader's client alone.
type Poll struct {
	request

	// Guarded by Shared.mu:
	asks    digest        // zero: not known yet
	waiting int           // the others who are there
	until   time.Time     // the answer is given until then; zero: under way
	told    chan struct{} // closed when answer is what it stays; nil: nobody has waited
	answer  *Answer       // nil: each asks for itself

	oneStep [1]func() // room for what atEnd holds as a rule
}

// request is what each poll has to do with; the rest of one is as it was made while nobody else has had it.
type request struct {
	context.Context // of the leader's client

	shared *Shared
	owner  string
	mark   string    // of the task's last change that was known when it began
	began  time.Time // before its request was sent
	task   sticky.Key
	hash   uint64 // of task

	// For the leader's goroutine only:
	over bool // Complete has told all there is
	own  bool // nobody else has had it, nor ever will

	// Guarded by Shared.mu:
	shown   bool  // another goroutine may have it
	isAlone bool  // it stands in Shared.alone
	isFiled bool  // it stands in Shared.like, or did before another took its place
	led     bool  // the leader is there
	next    *Poll // of those that stand in Shared.alone

	mu       sync.Mutex    // guards the fields below
	ended    chan struct{} // nil: nobody waits for the end
	unfollow func() bool   // nil: nobody follows the leader's client
	call     *inbound.Call // the leader's, until Release
	err      error         // why the context has ended
	atEnd    []func()

	session sticky.Key // zero outside of one
}

// Answer is an answer that several callers may be given.
type Answer struct {
	Message []byte       // a JSON-RPC response, with the leader's id
	Code    int          // of the error in it; 0 if there is none
	Rule    *wire.Header // which pages may read it
}

// newPoll makes a poll in room, which is free, or in new memory if that is nil.
func newPoll(ctx context.Context, s *Shared, c *inbound.Call, owner string, room *Poll) *Poll {
	p := room
	if p == nil {
		p = new(Poll)
	}
	p.Context, p.shared, p.call, p.owner, p.task, p.began = ctx, s, c, owner, c.TaskKey(), c.Now()
	p.hash = hashOf(&p.task)
	if c.Session != "" {
		p.session = c.Endpoint.Router.SessionKey(c.Principal, c.Session)
	}
	return p
}

// Began is when the request that p is began; zero: it is none.
func (p *Poll) Began() time.Time {
	if p == nil {
		return time.Time{}
	}
	return p.began
}

// isOpen reports whether a caller may be given p's answer now.
func (p *Poll) isOpen(now time.Time) bool {
	if !p.until.IsZero() {
		return now.Before(p.until)
	}
	return now.Sub(p.began) < joinable
}

// joined counts one more who waits. Callers hold the lock.
func (p *Poll) joined() {
	p.waiting++
	if p.told != nil {
		return
	}
	p.told = make(chan struct{})
	if !p.until.IsZero() {
		close(p.told)
	}
}

// wait returns p's answer; nil: there is none to share.
func (p *Poll) wait(ctx context.Context) (*Answer, error) {
	select {
	case <-p.told:
		return p.answer, nil
	case <-ctx.Done():
		return nil, fault.ErrClientGone
	}
}

// Awaited reports whether others wait for the answer to the request that p is; nil is none.
func (p *Poll) Awaited() bool { return p != nil && p.Err() == nil && p.awaited(0) }

// awaited reports whether anybody but the leader waits for p, or would be given its answer
// later. If not, nobody joins any more.
func (p *Poll) awaited(keep time.Duration) bool {
	p.shared.mu.Lock()
	defer p.shared.mu.Unlock()
	if p.waiting > 0 || keep > 0 {
		return true
	}
	p.shared.drop(p)
	p.own = !p.shown
	return false
}

// Free lets go of what p, which was released, refers to, and reports whether another poll may be made in its place: nobody
// else has p, or a context that was derived from it.
func (p *Poll) Free() bool {
	p.mu.Lock()
	free := p.over && p.own && p.call == nil && p.unfollow == nil && p.ended == nil && p.atEnd == nil && p.err == nil
	p.mu.Unlock()
	if free {
		p.request = request{}
	}
	return free
}
