package alarm

import (
	"sync"
	"time"
)

// Queue holds alarms of one length. Its methods may be called concurrently. The zero value is ready.
type Queue struct {
	mu          sync.Mutex // guards the fields below, and those of alarms in the list
	first, last *Alarm     // the one that was set first
	timer       *time.Timer
	ticking     bool // the timer runs
}

// Alarm goes off once after it was set, unless it is stopped before. It must not be copied.
type Alarm struct {
	who           Sleeper
	due           time.Time
	before, after *Alarm
	listed        bool
}

// Sleeper is whom an alarm is for.
type Sleeper interface {
	// Wake is called where nothing may wait: others are due, too. It may set the alarm again.
	Wake()
}

// Set has a wake who after d, which is the same for all alarms of the queue. It is for an alarm that is not set.
func (l *Queue) Set(a *Alarm, who Sleeper, d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*a = Alarm{who: who, due: time.Now().Add(d), before: l.last, listed: true}
	if l.last == nil {
		l.first = a
	} else {
		l.last.after = a
	}
	if l.last = a; !l.ticking {
		l.tick(d)
	}
}

// tick has the next look after d. The caller holds mu.
func (l *Queue) tick(d time.Duration) {
	if l.ticking = true; l.timer == nil {
		l.timer = time.AfterFunc(d, l.ring)
		return
	}
	l.timer.Reset(d)
}

// Stop has a wake nobody, unless it does so already. It may be called of one that is not set.
func (l *Queue) Stop(a *Alarm) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a.listed {
		l.remove(a)
	}
}

// remove takes a out. The caller holds mu.
func (l *Queue) remove(a *Alarm) {
	if a.before == nil {
		l.first = a.after
	} else {
		a.before.after = a.after
	}
	if a.after == nil {
		l.last = a.before
	} else {
		a.after.before = a.before
	}
	*a = Alarm{}
}

// ring wakes all who are due.
func (l *Queue) ring() {
	for who := l.next(); who != nil; who = l.next() {
		who.Wake()
	}
}

// next takes out the first one that is due; nil: nobody is, and the timer is set to who will be.
func (l *Queue) next() Sleeper {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.first == nil {
		l.ticking = false
		return nil
	}
	if wait := time.Until(l.first.due); wait > 0 {
		l.tick(wait)
		return nil
	}
	who := l.first.who
	l.remove(l.first)
	return who
}
