package runner

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"berth/internal/mcp"
	"berth/internal/timed"
	"berth/routing"
	"berth/upgrade/task"
	"berth/upgrade/transport"
)

const (
	// ResumeFor is how long an upstream may be out of reach before a stream is given up.
	ResumeFor = 30 * time.Second

	// resumeFirst and ResumeMost bound how long an upstream is left alone between two attempts.
	resumeFirst, ResumeMost = 100 * time.Millisecond, 5 * time.Second

	// resumeApart is how far apart streams are opened at least.
	resumeApart = time.Second
)

// resume goes on listening to a round that another berth has sent, from the last event on
// that had its effect. Where the upstream has nothing to tell, nobody knows what the tool
// did.
func (s *stream) resume(t *task.Task) (again bool, err error) {
	ctx := s.bounded()
	defer ctx.End()
	u := s.r.Pools.Owner(ctx, t)
	if u == nil {
		return false, task.NoUpstream("the server that runs the call is not in the pool any more", mcp.Unknown)
	}
	defer s.room.Give()
	at := s.slot.standIn(u)
	defer s.slot.leave(at)
	line, hangUp := s.line(ctx)
	defer hangUp()
	begun := time.Now()
	ex, lost := s.reopen(ctx, line, u)
	s.measureResumption(ctx, lost)
	if lost != nil && ctx.Err() == nil {
		return s.lose(ctx, lost)
	}
	var answer *reply
	if err = lost; err == nil {
		answer, err = s.listen(ctx, line, u, ex)
	}
	return s.conclude(ctx, at, answer, err, begun)
}

// lose ends a call whose stream could not be resumed, or has it sent again where that may
// be.
func (s *stream) lose(ctx context.Context, err error) (again bool, _ error) {
	t := s.record()
	if !t.Terms.Rerun {
		if worded, ok := errors.AsType[*mcp.Error](err); ok {
			return false, worded
		}
		return false, task.Lost(mcp.ReasonHolderLost, "the berth that held the call is gone, and the server does not resume its stream", t)
	}
	op := s.l.Op(task.Redo)
	op.Round = s.due
	if err := s.must(ctx, op); err != nil {
		return false, err
	}
	return true, s.insist(ctx, func(ctx context.Context) error { return s.l.Asks.Close(ctx, t) })
}

// reopen resumes the stream of the round that is in flight, as soon as the upstream lets
// it, and takes what authorises that. It fails with ErrNoReplay, with an *mcp.Error, or when ctx ends.
func (s *stream) reopen(ctx, line context.Context, u *routing.Upstream) (transport.Exchange, error) {
	apart := min(max(s.quiet, resumeApart), ResumeMost) // some servers end at once whatever is resumed
	wait, pause := max(s.retry, apart-time.Since(s.reopened)), resumeFirst
	var since time.Time
	for {
		if err := timed.Sleep(ctx, wait); err != nil {
			return nil, err
		}
		onFreshStack(func() { _ = s.look(ctx) }) // who has been taken for dead must not take the stream from its adopter
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		ex, err := s.tryReopen(line, u)
		if _, isRefused := errors.AsType[*transport.CredentialsError](err); isRefused {
			s.renewal.Refused()
		}
		switch {
		case err == nil, errors.Is(err, transport.ErrNoReplay):
			return ex, err
		case errors.Is(err, task.ErrSessionLost):
			return nil, task.Lost(mcp.ReasonSessionLost, "the server does not know the client's session any more", s.record())
		case errors.Is(err, errQuiet): // it was let in
			wait, pause, since = 0, resumeFirst, time.Time{}
			continue
		case errors.Is(err, transport.ErrStands): // there is something to wait for
			since = time.Time{}
		case since.IsZero():
			since = time.Now()
		case time.Since(since) > ResumeFor:
			return nil, s.unresumed(err)
		}
		wait, pause = pause, min(2*pause, ResumeMost)
	}
}

// unresumed is why a stream is given up that could not be resumed for ResumeFor, at last because of err.
func (s *stream) unresumed(err error) error {
	if refused, ok := errors.AsType[*transport.CredentialsError](err); ok {
		return task.Lost(mcp.ReasonUpstreamReset, "the stream of the call broke off, and is not resumed: "+refused.Error(), s.record())
	}
	return errOutOfReach
}

// measureResumption notes how it went to resume the stream, unless nobody wanted that any more.
func (s *stream) measureResumption(ctx context.Context, err error) {
	if ctx.Err() == nil {
		s.r.Metrics.Resumed(ctx, s.record(), resumption(err))
	}
}

// resumption is how it went to resume a stream, in one word.
func resumption(err error) string {
	worded, isWorded := errors.AsType[*mcp.Error](err)
	switch {
	case err == nil:
		return "resumed"
	case errors.Is(err, errOutOfReach):
		return "unreachable"
	case errors.Is(err, transport.ErrNoReplay), isWorded && worded.Reason == mcp.ReasonUpstreamReset:
		return "refused"
	}
	return mcp.ReasonSessionLost
}

// tryReopen asks once. It fails with errQuiet if nothing came.
func (s *stream) tryReopen(line context.Context, u *routing.Upstream) (transport.Exchange, error) {
	t := s.record()
	s.reopened = time.Now()
	s.quiet = min(max(2*s.quiet, QuietFirst), QuietMost)
	attempt, cancel := context.WithCancelCause(line)
	w := &watched{quiet: s.quiet, end: cancel}
	w.timer = time.AfterFunc(s.quiet, w.hangUp)
	c := s.roomyCall()
	c.Envelope = s.renewed().Envelope
	var err error
	w.Exchange, err = s.r.Pools.Get(t.Pool).Transport.Resume(attempt, u, c, t.Event, t.Terms.MaxResult)
	if err == nil {
		return w, nil
	}
	w.timer.Stop()
	if errors.Is(context.Cause(attempt), errQuiet) {
		err = errQuiet
	}
	cancel(nil)
	return nil, err
}

// QuietFirst and QuietMost bound how long a stream that was resumed may say nothing.
const QuietFirst, QuietMost = time.Second, 10 * time.Second

var (
	errQuiet = errors.New("upgrade: a resumed stream said nothing")

	// errOutOfReach says that a stream could not be resumed for longer than ResumeFor.
	errOutOfReach = fmt.Errorf("%w: it is out of reach", transport.ErrNoReplay)
)

// watched is a stream that was resumed. It is closed when it says nothing for a while, and
// resumed anew: some servers bring only what was there when it was opened. Comments
// say nothing: they keep such a stream open for ever.
type watched struct {
	transport.Exchange
	quiet  time.Duration
	timer  *time.Timer
	silent atomic.Bool // it was closed because of that
	end    context.CancelCauseFunc
}

func (w *watched) hangUp() {
	w.silent.Store(true)
	w.end(errQuiet)
}

// Next implements Exchange. It fails with errQuiet if nothing came for a while.
func (w *watched) Next() (transport.Message, error) {
	w.timer.Reset(w.quiet)
	defer w.timer.Stop()
	for {
		m, err := w.Exchange.Next()
		if err != nil && w.silent.Load() {
			err = errQuiet
		}
		if err != nil || m.Data != nil || m.Event != "" || m.Retry > 0 {
			return m, err
		}
	}
}

// Close implements Exchange.
func (w *watched) Close() {
	w.timer.Stop()
	w.Exchange.Close()
	w.end(nil)
}
