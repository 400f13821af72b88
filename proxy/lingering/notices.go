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

const topic = "resumed" // where berths tell each other whose client resumes a stream

// EndElsewhere has the other berths end what End ends at this one. It reports whether they were told, and does not wait for them.
func (l *Exchanges) EndElsewhere(ctx context.Context, in Session, event string) bool {
	return l.notices != nil && l.notices.Notify(ctx, topic, in.digest()+" "+event) == nil
}

// hear ends, until deaf is called, the exchanges that clients of other berths take over.
func (l *Exchanges) hear() (deaf context.CancelFunc) {
	ctx, deaf := context.WithCancel(context.Background())
	go func() {
		_ = l.notices.Watch(ctx, topic, func(message string) { // it ends with ctx
			session, event, _ := strings.Cut(message, " ")
			if x := l.findBy(session, event); x != nil {
				x.end(errResumed)
			}
		})
	}()
	return deaf
}

// findBy is find of a session that is told by its digest.
func (l *Exchanges) findBy(digest, event string) *Exchange {
	l.mu.Lock()
	defer l.mu.Unlock()
	for in, of := range l.by {
		if in.digest() == digest {
			return which(of, event)
		}
	}
	return nil
}

// digest names a session to other berths. The ids themselves let who has them in, and are not told.
func (s Session) digest() string {
	sum := sha256.Sum256([]byte(s.Path + "\x00" + s.Principal + "\x00" + s.ID))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
