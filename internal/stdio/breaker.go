package stdio

import "time"

// quickDeaths in a row stop a command from being started whenever somebody asks for it.
const quickDeaths = 5

// firstTrial is after how long berth tries for itself whether a command starts that did not; each trial that fails doubles it.
const firstTrial = time.Second

// breaker says what is wrong with a command that keeps dying, and when it may be started.
type breaker struct {
	backoff time.Duration // before the start after the first quick death; doubled by each that follows
	trial   time.Duration // between starts once there were quickDeaths, and between trials of berth's own at most

	death   string // how the last process died that died by itself
	told    string // the same, as any caller may be told
	trouble string // what is wrong with the command; "": nothing, as far as is known

	deaths int  // quick ones in a row
	unborn bool // the last of them came before initialize was answered
	next   time.Time

	trials int       // of berth's own since the first of them
	again  time.Time // when the next one is due
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

// allows reports whether admit would.
func (b *breaker) allows(now time.Time) bool { return b.deaths < quickDeaths || !now.Before(b.next) }

// admitTrial reports whether berth may try for itself whether the command starts.
func (b *breaker) admitTrial(now time.Time) bool {
	if b.deaths >= quickDeaths {
		_, ok := b.admit(now)
		return ok
	}
	if now.Before(b.again) {
		return false
	}
	b.again = now.Add(min(b.trial, firstTrial<<b.trials))
	b.trials = min(b.trials+1, 30)
	return true
}

// died notes a quick death of a process, before it had answered initialize or after that.
func (b *breaker) died(now time.Time, unborn bool) {
	if b.deaths == 0 {
		b.trials, b.again = 0, now.Add(firstTrial)
	}
	b.deaths++
	b.unborn = unborn
	pause := b.trial
	if b.deaths < quickDeaths {
		pause = b.backoff << (b.deaths - 1)
	}
	b.next = now.Add(pause)
}

// blame notes how a process died that died by itself, and what any caller is told of that, before it had answered initialize or after
// that.
func (b *breaker) blame(how, told string, unborn bool) {
	b.death, b.told = how, told
	switch {
	case b.deaths >= quickDeaths:
		b.keepsDying()
	case unborn:
		b.trouble = "the command does not start: " + how
	}
}

func (b *breaker) keepsDying() { b.trouble = "the command keeps dying: " + b.death }

// born notes that initialize was answered, in a trial or to a client: what has kept others from that is over. After a
// trial one process may be started at once; whether that lives is still to show.
func (b *breaker) born(trial bool) {
	switch {
	case b.unborn:
		b.lived()
	case trial:
		b.trouble, b.next = "", time.Time{}
	}
}

// lived notes that a process has done something for a client.
func (b *breaker) lived() { b.trouble, b.deaths, b.unborn, b.next = "", 0, false, time.Time{} }
