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
	log     *slog.Logger
}

// write is what keeps a handshake with its session. What is kept under the session's id already stays.
func (h handshakes) write(session Key, handshake string) storage.Write {
	return storage.Write{Key: session.handshake().digest(), Value: []byte(handshake), TTL: h.terms.handshake()}
}

func (h handshakes) get(ctx context.Context, session Key) ([]byte, error) {
	record, err := h.records.get(ctx, session.handshake())
	return record.Value, err
}

func (h handshakes) revise(ctx context.Context, session Key, change func(handshake []byte) ([]byte, error)) error {
	return h.records.revise(ctx, session.handshake(), h.terms.handshake(), change)
}

func (h handshakes) drop(ctx context.Context, session Key) {
	if err := h.records.store.Delete(ctx, session.handshake().digest()); err != nil {
		h.log.Debug("a handshake could not be dropped", "error", err)
	}
}
