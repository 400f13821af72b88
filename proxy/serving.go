package proxy

import (
	"sync"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/draft"
	"berth/proxy/inbound"
	"berth/proxy/outbound"
	"berth/proxy/polls"
	"berth/proxy/record"
	"berth/proxy/reply"
)

// serving is all that it takes to serve one request, its memory aside zero before it.
type serving struct {
	request
	call   inbound.Call
	answer reply.Writer
}

// servings are used again.
var servings = sync.Pool{New: func() any { return &serving{request: request{memory: new(requestMemory)}} }}

// requestMemory is memory that a request takes, and leaves to the next. It is an allocation of its own, so that a stream that stands can let go
// of it.
type requestMemory struct {
	body   []byte          // for the client's
	parcel outbound.Parcel // for what goes upstream
	reader exchange.Reader // of the answer
	poll   *polls.Poll     // of one that is over; nil: of none
}

// begin prepares x for a request.
func (x *serving) begin(p *Proxy, w wire.Client, r *wire.Request) {
	x.call.HTTP, x.call.Settings, x.call.Began = r, &p.settings, time.Now()
	limits, out := &p.settings.Limits, &x.answer
	out.Client, out.Stall, out.Most, out.Draining, out.Since = w, limits.WriteStall, limits.Answer, p.end.draining, x.call.Began
	x.p, x.Guide, x.Call, x.out = p, &p.guide, &x.call, out
	p.audit.Begin(&x.rec, &x.call)
	x.made = draft.Tasks{Call: &x.call, At: &x.Decision}
	x.recorder = record.Recorder{Call: &x.call, At: &x.Decision, Stale: p.stale, Sessions: p.sessions}
}

// mayBeUsedAgain reports whether nobody has anything of the request any more, its body aside: it was one call, whose whole
// answer was relayed or is about a task of berth's own, and none of the steps was taken that go on beside a request or after
// it. That is so of nearly all requests; the rest is the garbage collector's.
func (x *serving) mayBeUsedAgain() bool {
	c := x.Single()
	return (x.relayed || x.answered) && !x.Outlived && x.Call == &x.call && x.announced == nil && x.out.Early == nil && x.MovedFrom == "" && !x.Drafts &&
		c != nil && c.Kind == mcp.KindRequest && c.Method != mcp.MethodInitialize
}

// end lets go of the request, and of memory beyond what most need.
func (x *serving) end() {
	const most = 16 << 10
	left := x.memory
	if left.body = x.Body[:0]; x.bodyKept || cap(left.body) > most {
		left.body = nil
	}
	if x.poll != nil && x.poll.Free() {
		left.poll = x.poll
	}
	left.parcel.Empty()
	left.reader.End()
	*x = serving{request: request{memory: left}}
}
