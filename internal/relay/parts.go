package relay

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"berth/internal/storage"
)

// ackEvery is how many parts are read before who writes them is told.
const ackEvery = window / 2

// get returns the next part. The error wraps storage.ErrNotFound if it may yet come.
func (p *passed) get() (part, error) {
	record, err := p.store.Get(p.ctx, partKey(p.id, p.next))
	if errors.Is(err, storage.ErrNotFound) {
		record, err = p.find()
	}
	if err != nil {
		return part{}, err
	}
	return p.opened(record.Value)
}

// find finds out whether the next part, which is not there, may yet come. If the record counts it, it
// came meanwhile, or has expired.
func (p *passed) find() (storage.Record, error) {
	if err := p.check(); err != nil {
		return storage.Record{}, err
	}
	if p.counted <= p.next {
		return storage.Record{}, storage.ErrNotFound
	}
	record, err := p.store.Get(p.ctx, partKey(p.id, p.next))
	if errors.Is(err, storage.ErrNotFound) {
		err = fmt.Errorf("%w: part %d has expired", ErrLost, p.next)
	}
	return record, err
}

// opened opens the next part, and removes it.
func (p *passed) opened(token []byte) (part, error) {
	frame, err := p.keys.Open(p.ctx, sealedPart, []string{p.id, strconv.Itoa(p.next)}, string(token))
	if errors.Is(err, storage.ErrUnavailable) {
		return part{}, err
	}
	if err != nil {
		return part{}, fmt.Errorf("%w: part %d: %w", ErrLost, p.next, err)
	}
	next, err := decodePart(frame)
	if err != nil {
		return part{}, fmt.Errorf("%w: part %d: %w", ErrLost, p.next, err)
	}
	p.remove(p.ctx, partKey(p.id, p.next))
	p.next++
	if p.next%ackEvery == 0 && !next.End {
		p.acked, p.ackDue = true, true
		p.ack()
	}
	return next, nil
}

// ack tells who writes the answer how much of it was read. If the store does not take that, it is
// told with the next look.
func (p *passed) ack() {
	if !p.ackDue || p.store.Put(p.ctx, readKey(p.id), strconv.AppendInt(nil, int64(p.next), 10), exchangeLife) != nil {
		return
	}
	p.ackDue = false
	_ = p.store.Notify(p.ctx, topicOf(p.to), notice{kind: read, id: p.id, n: p.next}.String()) // the writer looks by itself
}

// check fails if the exchange is over, and counts the parts that the record tells of.
func (p *passed) check() error {
	p.ack()
	record, err := p.store.Get(p.ctx, recordKey(p.id))
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return fmt.Errorf("%w: the store has no record of it", ErrLost)
	case err != nil:
		return err
	case p.gone.Load():
		return ErrLost
	case !isOffer(record.Value):
		p.counted = partsIn(record.Value)
		return nil
	case time.Since(p.began) > p.patience:
		return fmt.Errorf("%w: it has taken nothing for %v", ErrGone, p.patience)
	}
	return p.stands(p.ctx, p.to)
}
