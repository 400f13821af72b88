package relay

import (
	"context"
	"errors"
	"io"
	"strconv"
	"sync"
	"time"

	"berth/internal/exchange"
	"berth/internal/wire"
)

// window is how many parts of an answer are in the store unread.
const window = 8

// How long data waits for more of its kind. An event goes at once, unless one has gone just before.
const (
	gatherEvents = 20 * time.Millisecond
	gatherRest   = 100 * time.Millisecond
)

// write writes response to its end, and returns what broke it off. If it is ctx, it returns nil.
func (e *served) write(ctx context.Context, response *wire.Response) *failure {
	closing := sync.OnceFunc(func() { _ = response.Body.Close() })
	stop := context.AfterFunc(ctx, closing) // what reads it ends
	var filling sync.WaitGroup
	defer filling.Wait()
	defer closing()
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := newSpool()
	filling.Go(func() { s.fill(ctx, response.Body) })

	first := &part{Head: headOf(response)}
	events := exchange.ShapeOf(response) == exchange.EventStream
	if events {
		if err := e.put(ctx, *first); err != nil {
			return e.broken(ctx, err)
		}
		first = nil
	}
	var last time.Time
	due := func() time.Duration {
		if events {
			return gatherEvents - time.Since(last)
		}
		return gatherRest
	}
	for {
		if err := s.gather(ctx, due); err != nil {
			return nil
		}
		p := part{}
		if first != nil {
			p, first = *first, nil
		}
		var err error
		p.data, err = s.take()
		if p.End = err != nil; p.End && !errors.Is(err, io.EOF) {
			p.Failure = failureOf(err)
		}
		if err := e.put(ctx, p); err != nil || p.End {
			return e.broken(ctx, err)
		}
		last = time.Now()
	}
}

// broken is what the sender is told of a part that could not be written.
func (e *served) broken(ctx context.Context, err error) *failure {
	if err == nil || ctx.Err() != nil {
		return nil
	}
	e.log.Warn("an answer to another berth could not be written to the store", "berth", e.from, "error", err)
	return lost()
}

// put writes the next part once there is room for it, and tells the sender. The end of an exchange
// has room always, and outlasts a longer outage: without it the sender would wait for more.
func (e *served) put(ctx context.Context, p part) error {
	n := int(e.parts.Load())
	if err := e.awaitRoom(ctx, n, p.End); err != nil {
		return err
	}
	frame, err := encodePart(p)
	if err != nil {
		return err
	}
	token, err := e.seal(ctx, sealedPart, []string{e.id, strconv.Itoa(n)}, frame)
	if err != nil {
		return err
	}
	patience := e.life
	if p.End {
		patience = exchangeLife
	}
	if err := insist(ctx, patience, func() error { return e.store.Put(ctx, partKey(e.id, n), token, exchangeLife) }); err != nil {
		return err
	}
	e.parts.Store(int64(n) + 1)
	e.ended = p.End
	_ = e.store.Notify(ctx, topicOf(e.from), notice{kind: written, id: e.id, n: n + 1}.String()) // the sender looks by itself
	return nil
}

// awaitRoom waits until the reader has come so far that one more part may stand.
func (e *served) awaitRoom(ctx context.Context, n int, end bool) error {
	most := window
	if end {
		most++
	}
	for n-int(e.count.Load()) >= most {
		timer := time.NewTimer(paceFirst)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-e.woken:
		case <-timer.C:
			if record, err := e.store.Get(ctx, readKey(e.id)); err == nil {
				count, _ := strconv.Atoi(string(record.Value)) // another form counts none
				e.rise(count)
			}
		}
		timer.Stop()
	}
	return nil
}
