package stdio

import (
	"fmt"
	"time"
)

// quickDeaths in a row stop a command from being started whenever somebody asks for it.
const quickDeaths = 5

// breaker says when a command may be started that keeps dying.
type breaker struct {
	backoff time.Duration // before the start after the first quick death; doubled by each that follows
	trial   time.Duration // between starts once there were quickDeaths

	deaths int // quick ones in a row
	next   time.Time
}

// admit reports after how long a process may be started, if it may; else, after how long somebody
// may ask again.
func (b *breaker) admit(now time.Time) (wait time.Duration, ok bool) {
	wait = max(0, b.next.Sub(now))
	if b.deaths < quickDeaths {
		return wait, true
	}
	if wait > 0 {
		return wait, false
	}
	b.next = now.Add(b.trial)
	return 0, true
}

// died notes a quick death.
func (b *breaker) died(now time.Time) {
	b.deaths++
	pause := b.trial
	if b.deaths < quickDeaths {
		pause = b.backoff << (b.deaths - 1)
	}
	b.next = now.Add(pause)
}

// lived notes that a process has done something for a client.
func (b *breaker) lived() { b.deaths, b.next = 0, time.Time{} }

// Trouble is what is wrong with the command: it has died again and again, and nothing has served a
// client since. nil: nothing, as far as is known.
func (s *Server) Trouble() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.breaker.deaths < quickDeaths {
		return nil
	}
	return fmt.Errorf("stdio: the command keeps dying: %s", s.death)
}
