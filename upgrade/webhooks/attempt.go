package webhooks

import (
	"context"
	"errors"
	"time"

	"berth/internal/webhook"
	"berth/upgrade/ledger"
	"berth/upgrade/task"
)

const (
	// claimSpare is how much longer than an attempt may take nobody else makes one.
	claimSpare = 5 * time.Second

	// again is how soon a message is looked at that could not be judged, or was another's.
	again = 2 * time.Second

	// notYetMost is how seldom one is looked at whose step is not stored, and askedLate is when one of
	// an ask is old news that does not stand.
	notYetMost = time.Minute
	askedLate  = 30 * time.Second

	// afterMost bounds how long a receiver's word has a message wait, and pauseMost all others of its:
	// less than a message outlasts its task, so that its end is seen.
	afterMost = time.Hour
	pauseMost = time.Minute

	// lastWord is how long the store may take to hear of an attempt that was cut.
	lastWord = time.Second

	// goneFor is how long a receiver counts as gone that says so.
	goneFor = 24 * time.Hour
)

// see looks at a message, and sends it if it is due and no other berth's. It uses the turn, or gives it
// back.
func (c *courier) see(sending context.Context, p *parcel, turn webhook.Turn) (v verdict) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(sending), 2*ledger.StoreTime+c.Timeout)
	defer cancel()
	defer context.AfterFunc(sending, func() { time.AfterFunc(lastWord, cancel) })()
	var sent *webhook.Answer
	defer func() {
		turn(sent)
		v.sent = sent
	}()
	e, err := c.ledger.Records.Get(ctx, p.Task)
	switch {
	case errors.Is(err, ledger.ErrUnknown):
		return c.forgotten(ctx, p)
	case err != nil:
		return p.afterOutage()
	}
	news, wanted := p.Standing(e.Task)
	switch waited := time.Since(p.found); {
	case news == "" && p.IsEnd():
		return p.later(min(max(waited, again), notYetMost))
	case news == "" && waited < askedLate:
		return p.later(again)
	case news == "", !wanted:
		return c.strike(ctx, p)
	}
	p.happened(c.ledger.Clock.Here(e.Updated))
	if c.isUnnamed() {
		return p.later(c.within(e.Task, notYetMost))
	}
	mine, v := c.claim(ctx, p, e.Task)
	if mine == nil {
		return v
	}
	a := c.client.Send(sending, messageOf(p.Message, e.Task, news))
	if a.Outcome != webhook.Delivered && sending.Err() != nil { // this process ends
		_, _, _ = c.ledger.Outbox.Write(ctx, e.Task, p.Message, *mine, ledger.Tries{Count: mine.Count})
		return p.later(again)
	}
	sent = &a
	c.metrics.attempted(c.Name, a.Outcome)
	return c.conclude(ctx, p, e.Task, *mine, a)
}

// claim has no other berth send a message for now, and returns its tries then; nil and a verdict where
// it is not to be sent, or not by this one.
func (c *courier) claim(ctx context.Context, p *parcel, t *task.Task) (mine *ledger.Tries, v verdict) {
	tries, err := c.ledger.Outbox.TriesOf(ctx, p.Message)
	now := c.ledger.Clock.Now()
	left := tries.Left(now, p.knew(tries), max(c.MaxBackoff, afterMost))
	switch {
	case err != nil:
		return nil, p.afterOutage()
	case tries.Over:
		return nil, c.strike(ctx, p)
	case left > 0:
		return nil, p.later(c.within(t, min(left, c.MaxBackoff))) // of a clock that goes back and forth the timer would not hear
	case now.Sub(t.Updated) > c.MaxAge:
		return nil, c.giveUp(ctx, p, t, tries, reasonAge, nil)
	case time.Now().Unix() < c.goneUntil.Load():
		return nil, c.giveUp(ctx, p, t, tries, reasonGone, nil)
	}
	next := ledger.Tries{Count: tries.Count, By: c.ledger.Holder}.After(now, c.Timeout+claimSpare)
	next, ok, err := c.ledger.Outbox.Write(ctx, t, p.Message, tries, next)
	switch {
	case err != nil:
		return nil, p.afterOutage()
	case !ok:
		return nil, p.later(again) // another berth was first
	}
	return &next, verdict{}
}

// conclude notes what came of an attempt.
func (c *courier) conclude(ctx context.Context, p *parcel, t *task.Task, mine ledger.Tries, a webhook.Answer) verdict {
	mine.Count++
	next := ledger.Tries{Count: mine.Count}
	if a.Outcome == webhook.Delivered {
		next.Over = true
		_, _, _ = c.ledger.Outbox.Write(ctx, t, p.Message, mine, next) // else it may be sent once more
		c.log.Debug("a webhook message is delivered", "task", t.ID, "attempts", next.Count)
		return c.strike(ctx, p)
	}
	trouble := a.Err.Error()
	c.trouble.Store(&trouble)
	c.log.Debug("a webhook message was not taken", "task", t.ID, "attempts", next.Count, "outcome", a.Outcome, "error", a.Err)
	switch {
	case a.Outcome == webhook.Gone:
		c.goneUntil.Store(time.Now().Add(goneFor).Unix())
		c.log.Warn("a webhook's receiver wants no messages any more: it is sent none for a day, or until its keys change", "error", a.Err)
		return c.giveUp(ctx, p, t, mine, reasonGone, a.Err)
	case next.Count >= c.Attempts:
		return c.giveUp(ctx, p, t, mine, reasonAttempts, a.Err)
	}
	after := min(a.After, afterMost)
	wait := max(c.backOff(next.Count), after)
	next = next.After(c.ledger.Clock.Now(), wait)
	if stored, ok, err := c.ledger.Outbox.Write(ctx, t, p.Message, mine, next); ok && err == nil { // else the claim runs out
		p.knew(stored)
	}
	v := p.later(c.within(t, wait))
	v.pause = min(after, pauseMost)
	return v
}
