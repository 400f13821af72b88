package sticky

import (
	"context"
	"log/slog"

	"berth/internal/storage"
)

// handshakes are what it takes to open sessions anew.
type handshakes struct {
	terms   terms
	records *records
	pending *pendingHandshakes
	log     *slog.Logger
}

// over writes a handshake over that of a session which had the id before.
func (h handshakes) over(ctx context.Context, session Key, handshake string) {
	w := h.write(session, handshake)
	if err := h.records.store.Put(ctx, w.Key, w.Value, w.TTL); err != nil {
		h.log.Debug("a handshake could not be written", "error", err)
	}
}

// write is what keeps a handshake with its session. What is kept under the session's id already stays.
func (h handshakes) write(session Key, handshake string) storage.Write {
	return storage.Write{Key: session.Handshake().Digest(), Value: []byte(handshake), TTL: h.terms.handshake()}
}

func (h handshakes) get(ctx context.Context, session Key) ([]byte, error) {
	if text, pends := h.pending.get(session); pends {
		return []byte(text), nil
	}
	record, err := h.records.get(ctx, session.Handshake())
	return record.Value, err
}

func (h handshakes) revise(ctx context.Context, session Key, change func(handshake []byte) ([]byte, error)) error {
	if pends, err := h.pending.revise(session, change); pends {
		return err
	}
	return h.records.revise(ctx, session.Handshake(), h.terms.handshake(), change)
}

// writeBack gives the store one that was kept while it was away.
func (h handshakes) writeBack(ctx context.Context, p pendingHandshake) error {
	w := h.write(p.session, p.text)
	var err error
	if p.over {
		err = h.records.store.Put(ctx, w.Key, w.Value, w.TTL)
	} else {
		_, _, err = h.records.store.PutIfAbsent(ctx, w.Key, w.Value, w.TTL)
	}
	if err != nil {
		return err
	}
	if removed := h.pending.settle(p); removed {
		h.drop(ctx, p.session)
	}
	return nil
}

func (h handshakes) drop(ctx context.Context, session Key) {
	h.pending.remove(session)
	if err := h.records.store.Delete(ctx, session.Handshake().Digest()); err != nil {
		h.log.Debug("a handshake could not be dropped", "error", err)
	}
}
