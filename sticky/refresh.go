package sticky

import "time"

// Seen is what an answer tells of a task.
type Seen struct {
	At     time.Time     // when it came
	Status string        // "" if it does not say
	Ended  bool          // the status is an end
	Given  bool          // the result was given out, or there is none to be had
	TTL    time.Duration // time to live since creation; 0: unlimited, or it does not say
}

// refresher has what calls tell of bindings written, later: it is known here at once.
type refresher struct {
	terms   terms
	local   *local
	records *records
	rolls   *rolls
	metrics *metrics
	updates chan entry // that wait for Run

	forgotten *forgotten
}

const maxUpdates = 1024 // refreshes that may wait for Run

// observe is Observe. current is not provisional, unless seen tells a status.
func (r *refresher) observe(key *Key, current *Binding, seen *Seen) *Binding {
	life := r.terms.life(key.Kind, seen.TTL)
	told := seen.Status != "" && seen.Status != current.Status
	extends := seen.At.Add(life - extendBeyond).After(current.Expires)
	made, until, counts := r.terms.recount(current, seen)
	if !told && !extends && made == current.Made && until == current.Until {
		return nil // as nearly all answers leave it
	}
	next := *current
	next.Made, next.Until = made, until
	if told {
		next.Status = seen.Status
	}
	if extends {
		next.Expires = seen.At.Add(life)
	}
	r.refresh(entry{key: *key, binding: next, counts: counts})
	return &next
}

// touch is Touch.
func (r *refresher) touch(key Key, current Binding) (Binding, bool) {
	now, idle := time.Now(), r.terms.sessionIdle
	if isFresh(current.Expires.Sub(now), idle) {
		return current, false
	}
	if latest, ok := r.local.near.Get(key); ok {
		current = latest // a call routed at the same time may have been first
	}
	if isFresh(current.Expires.Sub(now), idle) {
		return current, false
	}
	current.Expires = now.Add(idle)
	current.Kept = r.prolonged(key, current.Kept)
	counts, until := countsAsBefore, r.terms.countedUntil(key.Kind, &current, 0, now)
	if key.Kind.Counted() && (current.Expires.UnixMilli() > current.Until || current.Until > until+touchEvery.Milliseconds()) {
		current.Until, counts = until, countsUntil
		if current.Made == 0 {
			current.Made = now.UnixMilli()
		}
	}
	r.refresh(entry{key: key, binding: current, counts: counts})
	return current, true
}

// isFresh reports whether what lives for idle after it was used, and has that left, was used a moment ago. More than that is left by a clock
// alone that is ahead, or was.
func isFresh(left, idle time.Duration) bool {
	slack := min(touchEvery, idle/2)
	return left > idle-slack && left <= idle+slack
}

// refresh lets this process know e at once and the store soon. It never blocks:
// what is dropped is told again when the next answer extends the binding.
func (r *refresher) refresh(e entry) {
	r.local.refresh(&e)
	if !r.enqueue(e) {
		r.owe(e)
	}
}

// owe has what a refresh changes of a list written later: no answer tells that again.
func (r *refresher) owe(e entry) {
	if e.counts != countsAsBefore {
		r.rolls.owing.add(e)
	}
}

// enqueue hands e to Run, if there is room.
func (r *refresher) enqueue(e entry) bool {
	select {
	case r.updates <- e:
		return true
	default:
		r.metrics.dropped()
		return false
	}
}

// prolonged has the handshake of a session in use kept longer, if it is time to, and
// returns until when it is kept.
func (r *refresher) prolonged(session Key, kept time.Time) time.Time {
	now := time.Now()
	left := kept.Sub(now)
	if kept.IsZero() || left > r.terms.sessionIdle+touchEvery && left <= r.terms.handshake()+touchEvery {
		return kept
	}
	if !r.enqueue(entry{key: session.Handshake()}) {
		return kept
	}
	return now.Add(r.terms.handshake())
}
