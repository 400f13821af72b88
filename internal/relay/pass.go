package relay

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"berth/internal/exchange"
	"berth/internal/storage"
	"berth/internal/wire"
)

// offerPatience is how long an offer waits to be taken, in lives of a lease.
const offerPatience = 2

// offerSpare is how much longer an offer stands in the store than its sender waits, who then learns
// whether it was taken.
const offerSpare = 5 * time.Second

// Pass has the berth of that name answer request, and returns the answer when its headers are there,
// within wait (0: no limit). A failure is a *exchange.SendError, Between where it is the way that failed, and
// wraps ErrGone, ErrLost, ErrBusy, ErrTooLarge or storage.ErrUnavailable where it is one of these. ctx bounds
// the whole exchange; closing the answer's body ends it.
func (m *Mailbox) Pass(ctx context.Context, to string, request *exchange.Request, wait time.Duration) (*wire.Response, error) {
	switch {
	case to == m.name:
		return nil, unoffered(errSelf)
	case !m.store.Shared():
		return nil, unoffered(ErrGone)
	case len(request.Body) > MaxBody:
		return nil, unoffered(ErrTooLarge)
	}
	if err := m.isThere(ctx, to, wait); err != nil {
		return nil, unoffered(err)
	}
	p := newPassed(ctx, m, to)
	response, err := p.exchange(request, wait)
	if err != nil {
		return nil, p.fail(err)
	}
	return response, nil
}

// unoffered is how a request failed that was not offered.
func unoffered(err error) *exchange.SendError {
	return &exchange.SendError{Err: err, TimedOut: errors.Is(err, errLate), Between: true}
}

// isThere fails if the berth of that name is not there, or not within wait (0: no limit).
func (m *Mailbox) isThere(ctx context.Context, name string, wait time.Duration) error {
	if wait > 0 {
		limited, cancel := context.WithTimeoutCause(ctx, wait, errLate)
		defer cancel()
		ctx = limited
	}
	if err := m.awaitStanding(ctx, name); err != nil {
		return orCause(ctx, err)
	}
	return nil
}

// exchange offers request, and waits for the answer's head.
func (p *passed) exchange(request *exchange.Request, wait time.Duration) (*wire.Response, error) {
	inTime := func() bool { return true }
	if wait > 0 {
		inTime = time.AfterFunc(wait, func() { p.cancel(errLate) }).Stop
	}
	defer inTime()
	if err := p.offer(request, wait); err != nil {
		return nil, err
	}
	first, err := p.await()
	if err != nil {
		return nil, err
	}
	if !inTime() {
		return nil, errLate
	}
	return p.answer(first)
}

// offer puts request where the addressee finds it, and tells it so.
func (p *passed) offer(request *exchange.Request, wait time.Duration) error {
	if err := p.stayAlive(p.ctx); err != nil {
		return err
	}
	value, err := p.sealed(request)
	if err != nil {
		return err
	}
	p.began, p.patience = time.Now(), offerPatience*p.life
	life := p.patience + offerSpare
	if wait > 0 {
		life = min(life, wait+offerSpare)
	}
	if len(value) > inlineMost {
		p.blob = true
		if err := storage.PutBlob(p.ctx, p.store, requestKey(p.id), value[len(inlineOffer):], life); err != nil {
			return err
		}
		value = []byte(blobOffer)
	}
	if _, _, err := p.store.PutIfAbsent(p.ctx, recordKey(p.id), value, life); err != nil {
		return err
	}
	p.offered = notice{kind: offered, id: p.id, from: p.name}.String()
	if err := p.store.AddMember(p.ctx, inboxKey(p.to), p.offered, life, maxOffers); err != nil {
		return err
	}
	_ = p.store.Notify(p.ctx, topicOf(p.to), p.offered) // the addressee looks by itself
	return nil
}

func (p *passed) sealed(request *exchange.Request) ([]byte, error) {
	frame, err := encodeRequest(request)
	if err != nil {
		return nil, err
	}
	token, err := p.seal(p.ctx, sealedRequest, []string{p.to, p.name, p.id}, frame)
	return append([]byte(inlineOffer), token...), err
}

// answer returns the answer that first begins.
func (p *passed) answer(first part) (*wire.Response, error) {
	defer p.begin()()
	p.accept(first)
	switch {
	case first.Head == nil && first.Failure != nil:
		return nil, first.Failure.sendError()
	case first.Head == nil:
		return nil, ErrLost
	}
	p.unwatch = context.AfterFunc(p.ctx, func() { _ = p.Close() })
	response := first.Head.response()
	response.Body = p
	return response, nil
}

// fail gives the exchange up, and says how it failed.
func (p *passed) fail(err error) *exchange.SendError {
	if told, ok := errors.AsType[*exchange.SendError](err); ok {
		_ = p.Close()
		return told
	}
	e := &exchange.SendError{Err: orCause(p.ctx, err), Sent: p.offered != "" && !p.takeBack()}
	_ = p.Close()
	switch {
	case errors.Is(err, storage.ErrFull):
		e.Err = ErrBusy
	case errors.Is(e.Err, ErrLost) && !e.Sent:
		e.Err = ErrGone
	case errors.Is(e.Err, ErrGone) && e.Sent:
		e.Err = ErrLost
	}
	e.TimedOut = errors.Is(e.Err, errLate)
	e.Between = !e.Sent || errors.Is(e.Err, ErrLost) || errors.Is(e.Err, storage.ErrUnavailable)
	return e
}

// takeBack takes the offer back, and reports whether nobody has taken it nor will.
func (p *passed) takeBack() bool {
	ctx, cancel := aside(p.ctx)
	defer cancel()
	for range 2 {
		standing, err := p.store.Swap(ctx, recordKey(p.id), 1, []byte(takenBack), p.life)
		if err == nil || errors.Is(err, storage.ErrConflict) && string(standing.Value) == takenBack {
			p.back = true
			return true
		}
		if !errors.Is(err, storage.ErrUnavailable) {
			break
		}
	}
	return false
}

// orCause is what ended ctx, or else err.
func orCause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

func newPassed(ctx context.Context, m *Mailbox, to string) *passed {
	p := &passed{Mailbox: m, id: rand.Text(), to: to, turn: make(chan struct{}, 1)}
	p.ctx, p.cancel = context.WithCancelCause(ctx)
	p.openExchange = m.open.add(p.id, p.cancel)
	if m.left.Load() {
		p.cancel(errLeft)
	}
	p.unfollow = m.peers.follow(to, func() {
		p.gone.Store(true)
		p.wake()
	})
	p.unwatch = func() bool { return false }
	return p
}
