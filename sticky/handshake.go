package sticky

import (
	"context"
	"fmt"
	"time"
)

// handshakeLife is how long a handshake is kept from when it was last prolonged:
// as long as its session may be unused, twice, so that it need not be written each
// time that the session is.
func (b *Bindings) handshakeLife() time.Duration { return 2 * b.options.SessionIdle }

// KeepHandshake keeps what it takes to open a session anew, and returns for how long
// at least: what Binding.Kept of the session is to say. The bytes are the caller's to
// read and write. What is kept under the session's id already stays.
func (b *Bindings) KeepHandshake(ctx context.Context, session Key, handshake []byte) (until time.Time, err error) {
	life := b.handshakeLife()
	until = time.Now().Add(life)
	if _, _, err := b.store.PutIfAbsent(ctx, session.handshake().digest(), handshake, life); err != nil {
		return time.Time{}, fmt.Errorf("sticky: keeping a handshake: %w", err)
	}
	return until, nil
}

// Handshake returns what KeepHandshake kept of a session. The error is ErrUnknown, or
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
