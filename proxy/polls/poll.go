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
	context.Context // of the leader's client

	shared        *Shared
	task, session sticky.Key // session is zero outside of one
	owner         string
	mark          string    // of the task's last change that was known when it began
	began         time.Time // before its request was sent
	over          bool      // Complete has told all there is; only the leader's goroutine looks

	// Guarded by Shared.mu:
	asks    digest        // zero: not known yet
	isAlone bool          // it stands in Shared.alone
	isFiled bool          // it stands in Shared.like, or did before another took its place
	led     bool          // the leader is there
	waiting int           // the others who are
	until   time.Time     // the answer is given until then; zero: under way
	told    chan struct{} // closed when answer is what it stays; nil: nobody has waited
	answer  *Answer       // nil: each asks for itself

	mu       sync.Mutex    // guards the fields below
	ended    chan struct{} // nil: nobody waits for the end
	unfollow func() bool   // nil: nobody follows the leader's client
	call     *inbound.Call // the leader's, until Release
	err      error         // why the context has ended
	atEnd    []func()
	oneStep  [1]func() // room for what atEnd holds as a rule
}

// Answer is an answer that several callers may be given.
type Answer struct {
	Message []byte      // a JSON-RPC response, with the leader's id
	Code    int         // of the error in it; 0 if there is none
	Rule    wire.Header // which pages may read it
}

func newPoll(ctx context.Context, s *Shared, c *inbound.Call, owner string) *Poll {
	p := &Poll{Context: ctx, shared: s, call: c, owner: owner, task: c.TaskKey(), began: time.Now()}
	if c.Session != "" {
		p.session = c.Endpoint.Router.SessionKey(c.Principal, c.Session)
	}
	return p
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
	return false
}
