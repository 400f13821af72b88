package sticky

import (
	"context"
	"time"

	"berth/internal/storage"
)

// handshakeLife is how long a handshake is kept from when it was last prolonged:
// as long as its session may be unused, twice, so that it need not be written each
// time that the session is.
func (b *Bindings) handshakeLife() time.Duration { return 2 * b.options.SessionIdle }

// handshakeWrite is what keeps a handshake with its session. What is kept under the session's id already stays.
func (b *Bindings) handshakeWrite(session Key, handshake string) storage.Write {
	return storage.Write{Key: session.handshake().digest(), Value: handshake, TTL: b.handshakeLife()}
}

// Handshake returns what is kept of a session, see Beside. The error is ErrUnknown, or
// wraps storage.ErrUnavailable or ctx's.
func (b *Bindings) Handshake(ctx context.Context, session Key) ([]byte, error) {
	record, err := b.get(ctx, session.handshake())
	return record.Value, err
}

// ReviseHandshake replaces what is kept of a session by what change makes of it; nil
// drops it. Errors are Handshake's and change's.
func (b *Bindings) ReviseHandshake(ctx context.Context, session Key, change func(handshake []byte) ([]byte, error)) error {
	return b.revise(ctx, session.handshake(), b.handshakeLife(), change)
}

// DropHandshake forgets what is kept of a session that has ended.
func (b *Bindings) DropHandshake(ctx context.Context, session Key) {
	if err := b.store.Delete(ctx, session.handshake().digest()); err != nil {
		b.log.Debug("a handshake could not be dropped", "error", err)
	}
}

// prolonged has the handshake of a session in use kept longer, if it is time to, and
// returns until when it is kept.
func (b *Bindings) prolonged(session Key, kept time.Time) time.Time {
	now := time.Now()
	if kept.IsZero() || kept.Sub(now) > b.options.SessionIdle+touchEvery {
		return kept
	}
	if !b.enqueue(entry{key: session.handshake()}) {
		return kept
	}
	return now.Add(b.handshakeLife())
}
