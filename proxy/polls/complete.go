package polls

import (
	"bytes"
	"time"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/inbound"
	"berth/proxy/reply"
)

// Response is a piece of what the leader is answered, and what it says.
type Response struct {
	Status  int
	Header  *wire.Header // as the leader's client gets it
	Message []byte       // the piece's, or its beginning
	Cut     bool         // it is only the beginning
	Says    *mcp.Answer
	Illegal error // why it is no message that can be read
	Last    bool  // nothing comes after it
}

// Complete gives those who wait the response that r bears, if it may be given to others. What
// stands before the response on an event stream completes nothing. A nil Poll is nobody's.
func (p *Poll) Complete(r *Response) {
	if p == nil {
		return
	}
	keep := min(p.call.Endpoint.Coalesce, maxKept)
	if !r.Last && !r.responds() {
		return
	}
	if p.over = !p.awaited(keep); p.over {
		return // spares a poll alone the rest
	}
	var answer *Answer
	if r.fits(p.call) {
		answer = &Answer{bytes.Clone(r.Message), r.Says.ErrorCode, reply.CrossOrigin(r.Header)}
	}
	p.complete(answer, keep)
	p.over = true
}

// responds reports whether r is, or begins, a response at all.
func (r *Response) responds() bool {
	return r.Cut || mcp.MayBeMessage(r.Message) && (r.Illegal != nil || r.Says.Method == "")
}

// fits reports whether r is a response to c that others may be given.
func (r *Response) fits(c *inbound.Call) bool {
	switch {
	case r.Cut, !r.responds(), r.Illegal != nil, r.Status != wire.StatusOK, !bytes.Equal(r.Says.ID, c.ID):
		return false
	}
	return r.Says.IsError || r.Says.Task.ID == c.Single().TaskID
}

// complete gives those who wait the answer, nil if there is none to share, and keeps it for
// those who come within keep, unless the poll took so long that they could be given what is
// too old. Only the first time counts.
func (p *Poll) complete(answer *Answer, keep time.Duration) {
	if answer != nil && keep > 0 {
		p.shared.sort(p) // those who come are compared with it
	}
	p.shared.mu.Lock()
	defer p.shared.mu.Unlock()
	if !p.until.IsZero() {
		return
	}
	p.own = false  // those who waited may look at it yet
	now := p.began // of no answer the time does not matter, as long as it is over
	if answer != nil {
		now = time.Now()
	}
	p.answer, p.until = answer, now.Add(keep)
	if p.told != nil {
		close(p.told)
	}
	if answer == nil || keep <= 0 || now.Sub(p.began) >= joinable || !p.shared.keep(p, keep) {
		p.shared.drop(p)
	}
}

// keep keeps p's answer, if there is room. Callers hold the lock.
func (s *Shared) keep(p *Poll, life time.Duration) bool {
	size := len(p.answer.Message)
	if s.kept+size > keptBytes {
		return false
	}
	s.kept += size
	time.AfterFunc(life, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.kept -= size
		s.drop(p)
	})
	return true
}

// Release ends the request that p is; nil is none. Those who have no answer yet ask for
// themselves.
func (p *Poll) Release() {
	if p == nil {
		return
	}
	if !p.over {
		p.complete(nil, 0)
	}
	p.mu.Lock()
	unfollow := p.unfollow
	p.call = nil
	p.mu.Unlock()
	if unfollow != nil {
		unfollow()
	}
}
