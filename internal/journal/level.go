package journal

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Level is the least level that is logged: the configured one or, for a time, another one. The zero value
// is info. Its methods may be called concurrently.
type Level struct {
	now atomic.Int64 // a slog.Level

	mu         sync.Mutex // guards the fields below
	configured slog.Level
	until      time.Time   // of another level; zero: there is none
	back       *time.Timer // ends that
}

// Level implements slog.Leveler.
func (l *Level) Level() slog.Level { return slog.Level(l.now.Load()) }

// Configure has level be the configured one. Another one that is there for a time stays for it.
func (l *Level) Configure(level slog.Level) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.configured = level
	if l.until.IsZero() {
		l.now.Store(int64(level))
	}
}

// Set has level be the one for d, in place of any other.
func (l *Level) Set(level slog.Level, d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.back != nil {
		l.back.Stop()
	}
	until := time.Now().Add(d)
	l.until = until
	l.now.Store(int64(level))
	l.back = time.AfterFunc(d, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.until.Equal(until) { // else another one was set meanwhile
			l.until = time.Time{}
			l.now.Store(int64(l.configured))
		}
	})
}

// Told is the level, the configured one, and when that is back; zero if it is there.
func (l *Level) Told() (now, configured slog.Level, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Level(), l.configured, l.until
}
