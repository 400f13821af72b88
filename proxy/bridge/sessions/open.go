package sessions

import (
	"context"
	"errors"
	"slices"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/mcp/eras"
	"berth/internal/wire"
	"berth/proxy/bridge/legacy"
	"berth/proxy/outbound"
	"berth/proxy/resident"
	"berth/proxy/session"
)

// newLoan is what has come of opening a session.
type newLoan struct {
	l   *Session
	err error
}

// put opens a session, and puts it in the place of one that is to be opened, be its caller there still or not.
func (reg *Registry) put(ctx context.Context, at *legacy.Upstream, b *Borrower, pending *Session, alone bool) newLoan {
	s := pending.shelf
	l, err := reg.openSession(context.WithoutCancel(ctx), at, b, s, pending.Place)
	reg.mu.Lock()
	defer reg.mu.Unlock()
	defer s.tell()
	s.opening = s.opening && alone
	i := slices.Index(s.loans, pending)
	isLost := err == nil && l.gone // its stream has told: a call finds that out as in any other
	if err != nil || isLost {
		reg.open--
		s.loans = slices.Delete(s.loans, i, i+1)
		s.settle()
	}
	if err != nil {
		return newLoan{nil, err}
	}
	l.users, l.alone = 1, alone
	l.noteUse(b.Out)
	if isLost {
		return newLoan{l, nil}
	}
	s.loans[i] = l
	if len(reg.listeners[s.whose]) > 0 {
		go l.Listen(context.WithoutCancel(ctx), b.Out, "")
	}
	return newLoan{l, nil}
}

// openSession opens a session in the borrower's name.
func (reg *Registry) openSession(ctx context.Context, at *legacy.Upstream, b *Borrower, s *shelf, place int) (*Session, error) {
	as := b.placed(at, place)
	l := &Session{
		Session: legacy.Session{At: at, Opened: legacy.OwnPost(as, nil)}, registry: reg, shelf: s, Declares: b.Client.Declares(), Place: place, level: -1,
		setting: make(chan struct{}, 1),
	}
	l.Resources = newResources(&l.Session)
	ctx, cancel := context.WithTimeout(ctx, session.Limit(at.Endpoint()))
	defer cancel()
	_, err := at.Opener(as).Open(ctx, at.Upstream, session.Opening{
		Initialize: eras.InitializeFor([]byte(outbound.OwnID), legacy.Version, b.Client.LegacyCapabilities(), b.Client.Info),
		Accept: func(opened *session.Session) error {
			l.ID, l.Version, l.Result = opened.ID, opened.Version, opened.Result
			if b.Client.Asked() {
				l.listenEarly(ctx, b.Out) // some ask as soon as they may
			}
			return nil
		},
	})
	if err != nil {
		l.StopListening()
		return nil, notOpened(at, err)
	}
	reg.around.Opened(l.Result)
	return l, nil
}

// notOpened is what a call fails with whose session was not opened: nothing of it was sent, however far
// the opening came.
func notOpened(at *legacy.Upstream, err error) error {
	if errors.Is(err, outbound.ErrEra) {
		at.NoteLegacy(false)
		return err
	}
	if failed, ok := errors.AsType[*exchange.SendError](err); ok {
		return &exchange.SendError{Err: failed.Err, Refused: failed.Refused, TimedOut: failed.TimedOut, Starved: failed.Starved, Unstarted: failed.Unstarted}
	}
	worded := &mcp.Error{Status: wire.StatusBadGateway, Code: mcp.CodeInternal, Message: "the server opened no session", Reason: mcp.ReasonBadUpstream, Outcome: mcp.NotExecuted}
	answer, ok := errors.AsType[*session.Refusal](err)
	switch {
	case !ok: // what was answered is none
	case resident.Is(at.URL) && answer.Object != nil: // berth's own words, with the end of what a process said
		worded = asWorded(answer)
	case wire.RefusesCredentials(answer.Status):
		worded = answer.OfCredentials()
	case answer.Status == wire.StatusTooManyRequests, answer.Status == wire.StatusServiceUnavailable:
		worded = Busy(answer.Status, answer.Header, "the server opens no session now")
	}
	if ok && answer.Unasked {
		return turnedAway(worded)
	}
	return worded
}
