package lingering

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// Notices carry words between the berths that share a store.
type Notices interface {
	// Notify gives a message to all who watch the topic.
	Notify(ctx context.Context, topic, message string) error
	// Watch calls received with each message on the topic until ctx ends; with "" where some may have been missed.
	Watch(ctx context.Context, topic string, received func(message string)) error
}

const topic = "exchanges" // where berths tell each other what clients do at another one than their request is at

// What a client does.
const (
	resumed   = "resumed"   // the stream in which it was given the event with this id
	cancelled = "cancelled" // the request with this id
)

// word is what a berth tells the others.
type word struct{ what, session, id string }

func (w word) String() string { return w.what + " " + w.session + " " + w.id }

// endElsewhere has the other berths end what end ends at this one, and does not wait for them.
func (l *Exchanges) endElsewhere(ctx context.Context, in Session, event string) {
	if l.notices != nil {
		_ = l.notices.Notify(ctx, topic, word{resumed, in.digest(), event}.String()) // else the refusal stands
	}
}

// hear heeds what other berths tell, until the store is closed.
func (l *Exchanges) hear() {
	_ = l.notices.Watch(context.Background(), topic, func(message string) {
		what, rest, _ := strings.Cut(message, " ")
		session, id, _ := strings.Cut(rest, " ")
		meant := func(x *Exchange) bool { return x.sessionDigest() == session }
		switch what {
		case cancelled:
			l.cancelHere(id, meant)
		case resumed:
			if x := l.find(func(x *Exchange) bool { return x.HasLeft() && meant(x) && x.hasTold(id) }); x != nil {
				x.end(errResumed)
			}
		}
	})
}

// sessionDigest is that of the exchange's session, which is made once. It is called with Exchanges.mu held.
func (x *Exchange) sessionDigest() string {
	if x.digest == "" {
		x.digest = x.in.digest()
	}
	return x.digest
}

// digest names a session to other berths. The ids themselves let who has them in, and are not told.
func (s Session) digest() string {
	sum := sha256.Sum256([]byte(s.Path + "\x00" + s.Principal + "\x00" + s.ID))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
