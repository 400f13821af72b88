package relay

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"berth/internal/exchange"
	"berth/internal/storage"
)

// renewEvery is how often the record of an exchange is written anew.
const renewEvery = time.Minute

// served is an exchange that another berth has passed on to this one.
type served struct {
	*server
	*openExchange // counts the parts that were read
	id, from      string
	offer         notice
	nonce         string // of the record's note
	refused       bool   // there was no place for it
	cancel        context.CancelCauseFunc
	over          chan struct{} // closed when nothing is written any more

	parts   atomic.Int64 // of the answer, written so far
	ended   bool         // the last one was
	took    bool         // the request
	blob    bool         // which is one
	version uint64       // of the record: take's, then keep's
}

func (e *served) serve(ctx context.Context) {
	request, err := e.take(ctx)
	if err != nil && ctx.Err() != nil || errors.Is(err, storage.ErrUnavailable) {
		return // the offer is found again in the inbox
	}
	if err != nil {
		e.unlist(ctx, e.offer)
		return
	}
	stop := e.peers.follow(e.from, func() { e.cancel(ErrGone) })
	defer stop()
	e.running.Go(func() { e.keep(ctx) })
	e.end(ctx, e.answer(ctx, request))
}

// answer has the request answered, and returns what broke the answer off.
func (e *served) answer(ctx context.Context, request *exchange.Request) *failure {
	switch {
	case e.refused:
		return &failure{Busy: true}
	case ctx.Err() != nil: // its sender has given up meanwhile
		return nil
	}
	response, err := e.handle(ctx, request)
	if err != nil {
		return failureOf(err)
	}
	return e.write(ctx, response)
}

// end writes the last part, unless it is written or nobody would read it.
func (e *served) end(ctx context.Context, f *failure) {
	if f != nil && ctx.Err() == nil {
		_ = e.put(ctx, part{End: true, Failure: f}) // else the sender finds that the record has expired
	}
	cause := context.Cause(ctx)
	if e.ended || cause == nil || errors.Is(cause, errClosed) { // what is closed, close sees to
		return
	}
	ctx, cancel := aside(ctx)
	defer cancel()
	if errors.Is(cause, errLeft) {
		_ = e.put(ctx, part{End: true, Failure: lost()})
		return
	}
	e.clear(ctx, e.id, int(e.count.Load()), int(e.parts.Load()))
}

// take takes the request, and returns it if nobody else has it, or had it before. An error that does
// not wrap storage.ErrUnavailable says that there is nothing to be had.
func (e *served) take(ctx context.Context) (*exchange.Request, error) {
	record, err := e.store.Get(ctx, recordKey(e.id))
	if err != nil {
		return nil, err
	}
	if !isOffer(record.Value) {
		return nil, errTaken
	}
	var request *exchange.Request
	if !e.refused {
		if request, err = e.unseal(ctx, record.Value); err != nil {
			return nil, err
		}
	}
	e.blob = string(record.Value) == blobOffer
	return request, e.swap(ctx, record.Version)
}

var errTaken = errors.New("relay: not to be taken any more")

func (e *served) unseal(ctx context.Context, record []byte) (*exchange.Request, error) {
	token := record[min(len(record), len(inlineOffer)):]
	if string(record) == blobOffer {
		var err error
		if token, err = storage.GetBlob(ctx, e.store, requestKey(e.id)); err != nil {
			return nil, err
		}
	}
	frame, err := e.keys.Open(ctx, sealedRequest, []string{e.name, e.from, e.id}, string(token))
	if err != nil {
		if !errors.Is(err, storage.ErrUnavailable) {
			e.log.Warn("a request that another berth passed on does not open: not all berths have the same seal key", "berth", e.from)
		}
		return nil, err
	}
	return decodeRequest(frame)
}

// swap puts this berth's note in place of the offer. Where the store does not say whether it did, it
// is asked until it does: what was taken is to be answered.
func (e *served) swap(ctx context.Context, version uint64) error {
	note := takenNote(e.nonce, 0)
	for {
		standing, err := e.store.Swap(ctx, recordKey(e.id), version, note, exchangeLife)
		if errors.Is(err, storage.ErrConflict) && isNoteOf(e.nonce, standing.Value) {
			err = nil // it was not acknowledged
		}
		if err == nil {
			e.version, e.took = standing.Version, true
		}
		if !errors.Is(err, storage.ErrUnavailable) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("relay: taking a request: %w", context.Cause(ctx))
		case <-time.After(paceFirst):
		}
	}
}

// keep removes what is left of the offer, and renews the record until ctx ends. An exchange whose
// record is gone is over.
func (e *served) keep(ctx context.Context) {
	e.unlist(ctx, e.offer)
	e.removeRequest(ctx)
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		standing, err := e.store.Swap(ctx, recordKey(e.id), e.version, takenNote(e.nonce, int(e.parts.Load())), exchangeLife)
		switch {
		case err == nil, errors.Is(err, storage.ErrConflict) && isNoteOf(e.nonce, standing.Value):
			e.version = standing.Version
		case errors.Is(err, storage.ErrNotFound), errors.Is(err, storage.ErrConflict):
			e.cancel(ErrLost)
			return
		}
	}
}

func (e *served) removeRequest(ctx context.Context) {
	if !e.blob {
		return
	}
	ctx, cancel := aside(ctx)
	defer cancel()
	e.unsaid.do(ctx, func(ctx context.Context) error { return storage.DeleteBlob(ctx, e.store, requestKey(e.id)) })
}
