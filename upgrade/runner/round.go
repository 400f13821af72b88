package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"berth/internal/mcp"
	"berth/internal/mcp/inquiry"
	"berth/internal/timed"
	"berth/routing"
	"berth/upgrade/metrics"
	"berth/upgrade/task"
	"berth/upgrade/transport"
)

const (
	// MaxBare bounds how often in a row a call is sent again that asks for nothing but
	// that (2026-07-28, multi round-trip requests: the client may retry at once).
	MaxBare = 20

	BareFirst = 250 * time.Millisecond
	bareMost  = 30 * time.Second
)

// round is the round of a held call that is in flight, or about to be.
type round struct {
	*Held
	due      int       // its number
	sent     []byte    // its JSON-RPC id, raw
	state    []byte    // the requestState that the call goes on from, or waits for its client with, raw; nil: none
	reopened time.Time // when a stream of the call was resumed last
	stream   stream
	flight   flight
}

// play begins the round that is due. sent says that land is to act on what comes of it; else again is true if another
// one follows at once. bare counts those that did.
func (rd *round) play(bare int) (sent, again bool, err error) {
	t := rd.record()
	rd.due = t.Due()
	rd.state, _ = rd.l.Records.State(rd.ctx, t) // without it the upstream is not told that the call is given up
	if err := rd.backOff(bare); err != nil {
		return false, false, err
	}
	err = rd.givenUp()
	switch {
	case err != nil && rd.to != nil:
		rd.slot.leave(place{Lease: rd.to})
		return false, false, task.Unsent(err)
	case err != nil:
		return false, false, err
	case rd.to != nil:
		rd.takeOff(place{Lease: rd.to})
		return true, false, nil
	case t.Follows != "":
		again, err = rd.rejoin()
		return false, again, err
	case t.State == task.Dispatched:
		again, err = rd.stream.resume(t)
		return false, again, err
	}
	at, err := rd.slot.take(nil)
	if err == nil {
		rd.takeOff(at)
	}
	return err == nil, false, err
}

// conclude notes how the round went that began then, and acts on its answer.
func (rd *round) conclude(ctx context.Context, at place, answer *reply, err error, begun time.Time) (again bool, _ error) {
	rd.tell(at, answer, err, begun)
	switch {
	case errors.Is(err, errReturned):
		return true, nil
	case err != nil:
		return false, rd.cause(ctx, err)
	}
	return rd.act(ctx, at.Upstream, answer)
}

// tell tells operators how the round went.
func (rd *round) tell(at place, answer *reply, err error, begun time.Time) {
	t, outcome := rd.record(), rd.outcome(answer, err)
	rd.r.Metrics.Round(t.Pool, t.Upstream, outcome, time.Since(begun))
	if at.Lease == nil {
		return // it was sent to nobody
	}
	over := metrics.Round{Task: t, At: at.Upstream, Outcome: outcome, Err: err, Begun: begun}
	if answer != nil {
		over.Answer = &answer.Answer
	}
	rd.r.Metrics.Trace(over)
}

// backOff waits before a call is sent again.
func (rd *round) backOff(bare int) error {
	switch {
	case bare == 0:
		return nil
	case bare > MaxBare:
		return task.BadUpstream("the tool asks to be called again without an end")
	case bare == 1 && rd.r.isParting():
		return timed.Sleep(rd.ctx, partTime)
	}
	return timed.Sleep(rd.ctx, min(BareFirst<<(bare-1), bareMost))
}

// bounded is the context of one round.
func (rd *round) bounded() *timed.Context {
	deadline := rd.Expires
	if timeout := rd.record().Terms.Timeout; 0 < timeout && timeout < time.Until(deadline) {
		deadline = time.Now().Add(timeout)
	}
	return timed.To(rd.ctx, deadline, task.ErrTimeout)
}

// cause returns why a round that ctx ended has ended, else err.
func (rd *round) cause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, transport.ErrAnswered) {
		return cause
	}
	return err
}

// reply is the response that a round ended with.
type reply struct {
	mcp.Answer
	message []byte // whole
}

// outcome is how a round ended, in one word.
func (rd *round) outcome(r *reply, err error) string {
	switch {
	case errors.Is(err, transport.ErrRefused):
		return "refused"
	case errors.Is(err, transport.ErrAnswered):
		return "answered"
	case err != nil && rd.givenUp() != nil:
		return "given_up"
	case err != nil:
		return "failed"
	case r.IsError:
		return "error"
	case r.ResultType == mcp.ResultInputRequired:
		return mcp.ResultInputRequired
	}
	return "result"
}

// read reads an answer up to the response to the request with this id. Progress on the way
// is the task's message; other notifications are not for tasks.
func (rd *round) read(ex transport.Exchange, id []byte) (*reply, error) {
	for {
		m, err := next(ex)
		if err != nil {
			return nil, err
		}
		if m.Data == nil {
			continue
		}
		if r, err := rd.judge(m, id); r != nil || err != nil {
			return r, err
		}
	}
}

// judge returns the reply that a message is; nil if it is none. What read has on its stack while it
// waits is there for as long as the call.
func (rd *round) judge(m transport.Message, id []byte) (*reply, error) {
	var own mcp.Answer
	a, err := m.Says, error(nil)
	if a == nil {
		a, err = &own, own.PeekTo("", m.Data, false)
	}
	if err == nil && a.Method == "" {
		return rd.replied(a, m, id)
	}
	if p, ok := mcp.PeekProgress(m.Data); ok {
		if utf8.Valid(m.Data) {
			rd.notes.progress(p, m)
		}
		return nil, nil
	}
	if err != nil {
		return nil, task.ErrGarbled
	}
	return nil, nil
}

// replied returns the reply that a response is; nil if it is none to the request with this id.
func (rd *round) replied(a *mcp.Answer, m transport.Message, id []byte) (*reply, error) {
	switch meant, err := rd.isMeant(a, m, id); {
	case err != nil:
		return nil, err
	case !meant:
		return nil, nil
	case !a.IsError && !a.HasResult:
		return nil, task.ErrGarbled
	}
	return &reply{*a, m.Data}, nil
}

// isMeant reports whether a response is the one to the request with this id. What answers
// another request is passed over on a stream, as is an error that names none. An answer
// that is no stream holds nothing else: there such an error is the request's own, and
// another's response is a failure.
func (rd *round) isMeant(a *mcp.Answer, m transport.Message, id []byte) (bool, error) {
	switch {
	case a.Answers(id), m.Whole && a.IsNobodys():
		return true, nil
	case rd.reopened.IsZero(): // else streams of the session may be replayed on this one
		t := rd.record()
		rd.r.Metrics.Crossed(context.Background(), t)
	}
	if m.Whole {
		return false, errCrossed
	}
	return false, nil
}

var (
	errEnded   = task.BadUpstream("the server ended its answer without a response")
	errCrossed = task.BadUpstream("the server's answer is one to another request")
	// errBroken marks what went wrong on the way, and not in what was said.
	errBroken = errors.New("upgrade: the exchange broke off")
)

// next returns what comes next of an answer.
func next(ex transport.Exchange) (transport.Message, error) {
	m, err := ex.Next()
	_, worded := errors.AsType[*mcp.Error](err)
	switch {
	case errors.Is(err, io.EOF):
		return m, errEnded
	case err == nil, worded, errors.Is(err, transport.ErrAnswered):
		return m, err
	}
	return m, fmt.Errorf("%w: %w", errBroken, err)
}

// act does what the answer to a round means for the task.
func (rd *round) act(ctx context.Context, u *routing.Upstream, r *reply) (again bool, err error) {
	switch {
	case !r.CreatesTask() && !utf8.Valid(r.message):
		return false, task.Illegible(rd.record())
	case r.IsError:
		object, says := task.ErrorOf(r.message)
		return false, rd.endWith(ending{state: task.Failed, outcome: object, message: says})
	case r.ResultType == mcp.ResultInputRequired:
		return rd.pause(ctx, r)
	case r.CreatesTask(), r.ResultType == mcp.ResultTask:
		return rd.follow(ctx, u, r)
	}
	return false, rd.endWith(ending{state: task.Completed, outcome: r.Result, toolFailed: r.ToolFailed})
}

// pause stores what the client is asked. Nothing is in flight then, and nobody holds the
// task; unless the tool wants only to be called again.
func (rd *round) pause(ctx context.Context, r *reply) (again bool, err error) {
	asks, state, err := inquiry.Required(r.Result)
	if err != nil {
		return false, task.ErrGarbled
	}
	rd.state = state
	return rd.pauseFor(ctx, asks, state, "")
}

// pauseFor is pause for these asks; says is the task's message from then on.
func (rd *round) pauseFor(ctx context.Context, asks []inquiry.Input, state []byte, says string) (again bool, err error) {
	if err := unaskable(asks); err != nil {
		return false, err
	}
	if err := undeclared(rd.record().Declares, asks); err != nil {
		rd.r.Metrics.Question(ctx, "undeclared")
		return false, err
	}
	if task.SizeOf(asks) > task.MaxAskBytes {
		return false, task.ErrAsksTooMuch
	}
	op := rd.l.Op(task.Pause)
	op.Asks, op.RequestState, op.Message, op.Round = asks, state, says, rd.record().Round
	t, more := rd.record(), int64(len(state))+task.SizeOf(asks)
	held := rd.size
	if len(asks) == 0 { // else nobody holds it then
		held += more
	}
	if !rd.l.Quota.Take(rd.ID, t.Size+more, held) {
		return false, task.ErrNotKept
	}
	if len(asks) > 0 { // else it is this process that goes on
		if err := rd.insist(ctx, rd.storeCall); err != nil {
			return false, rd.cause(ctx, err)
		}
	}
	if err := rd.must(ctx, op); err != nil {
		return false, err
	}
	rd.client = nil
	t = rd.record()
	rd.l.Notices.Changed(ctx, t)
	if t.Follows != "" && len(asks) > 0 {
		rd.r.Watch(t, rd.renewed().Envelope)
	}
	return len(asks) == 0, nil
}
