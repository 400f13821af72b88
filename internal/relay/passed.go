package relay

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"berth/internal/storage"
)

// passed is an exchange that this berth has passed on, and the body of its answer, which one reads at
// a time.
type passed struct {
	*Mailbox
	*openExchange // counts the parts that were written
	id, to        string
	ctx           context.Context // of the whole exchange
	cancel        context.CancelCauseFunc
	unfollow      func()
	unwatch       func() bool

	offered  string        // the notice, once it may be in the inbox
	blob     bool          // the request is a blob
	back     bool          // it was taken back
	began    time.Time     // when it was offered
	patience time.Duration // for it to be taken

	gone    atomic.Bool // the addressee is
	closing atomic.Bool

	turn    chan struct{} // holds one while the fields below are in use; Pass has them for itself
	next    int           // part to read
	counted int           // parts that were written, by the record
	acked   bool          // the writer was told of some
	ackDue  bool          // or is to be
	data    []byte        // of the last part, not yet read
	over    error         // what the answer ended with
}

// Read implements io.Reader.
func (p *passed) Read(b []byte) (int, error) {
	defer p.begin()()
	if p.closing.Load() {
		return 0, orCause(p.ctx, errClosed)
	}
	for len(p.data) == 0 {
		if p.over != nil {
			return 0, p.over
		}
		next, err := p.await()
		if err != nil {
			return 0, err
		}
		p.accept(next)
	}
	n := copy(b, p.data)
	p.data = p.data[n:]
	return n, nil
}

func (p *passed) accept(next part) {
	p.data = next.data
	switch {
	case next.Failure != nil:
		p.over = next.Failure.cause()
	case next.End:
		p.over = io.EOF
	}
}

// await returns the next part once it is there.
func (p *passed) await() (part, error) {
	var wait pace
	look := int(p.count.Load()) > p.next
	var away time.Time // since when the store is
	for {
		if err := p.ctx.Err(); err != nil {
			return part{}, context.Cause(p.ctx)
		}
		if look {
			next, err := p.get()
			switch {
			case err == nil:
				return next, nil
			case errors.Is(err, storage.ErrUnavailable) && away.IsZero():
				away = time.Now()
			case errors.Is(err, storage.ErrUnavailable) && time.Since(away) < p.life:
			case !errors.Is(err, storage.ErrNotFound):
				return part{}, orCause(p.ctx, err)
			default:
				away = time.Time{}
			}
		}
		timer := time.NewTimer(wait.next())
		select {
		case <-p.ctx.Done():
		case <-p.woken:
		case <-timer.C:
		}
		timer.Stop()
		look = true
	}
}

// Close implements io.Closer: it ends the exchange.
func (p *passed) Close() error {
	if p.closing.Swap(true) { // before the end of ctx, which closes as well
		return nil
	}
	p.cancel(errClosed)
	defer p.begin()()
	p.unwatch()
	p.unfollow()
	p.open.remove(p.id)
	ctx, cancel := aside(p.ctx)
	defer cancel()
	p.clear(ctx)
	return nil
}

// begin begins one's turn, and returns what ends it.
func (p *passed) begin() (end func()) {
	p.turn <- struct{}{}
	return func() { <-p.turn }
}

// clear removes what only this berth removes, and has the addressee remove the rest.
func (p *passed) clear(ctx context.Context) {
	if p.over == nil && p.offered != "" && !p.back {
		p.unsaid.do(ctx, p.tellClosed)
		return
	}
	p.remove(ctx, recordKey(p.id))
	if p.acked {
		p.remove(ctx, readKey(p.id))
	}
	if p.back {
		_ = p.store.RemoveMember(ctx, inboxKey(p.to), p.offered)
	}
	if p.blob && p.over == nil {
		p.unsaid.do(ctx, func(ctx context.Context) error { return storage.DeleteBlob(ctx, p.store, requestKey(p.id)) })
	}
}

// tellClosed tells the addressee that the answer is not read any more. Without the record it takes
// nothing, and in time finds out by itself.
func (p *passed) tellClosed(ctx context.Context) error {
	if err := p.store.Delete(ctx, recordKey(p.id)); err != nil {
		return err
	}
	end := notice{kind: closed, id: p.id, n: p.next}.String()
	if err := p.store.AddMember(ctx, inboxKey(p.to), end, exchangeLife, 0); err != nil {
		return err
	}
	_ = p.store.Notify(ctx, topicOf(p.to), end) // the addressee looks by itself
	return nil
}
