package webhooks

import (
	"context"
	"errors"
	"math/rand/v2"
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

	// pauseMost bounds how long a receiver's word has it left alone.
	pauseMost = time.Hour

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
	defer func() { turn(sent) }()
	e, err := c.ledger.Records.Get(ctx, p.Task)
	switch {
	case errors.Is(err, ledger.ErrUnknown):
		return c.giveUp(ctx, p, nil, ledger.Tries{}, reasonForgotten, nil)
	case err != nil:
		return p.later(again)
	}
	news, wanted := p.Standing(&e.Task)
	switch waited := time.Since(p.found); {
	case news == "" && p.IsEnd():
		return p.later(min(max(waited, again), notYetMost))
	case news == "" && waited < askedLate:
		return p.later(again)
	case news == "", !wanted:
		return c.strike(ctx, p)
	}
	p.since.Store(e.Updated.Unix())
	mine, v := c.claim(ctx, p, &e.Task)
	if mine == nil {
		return v
	}
	a := c.client.Send(sending, messageOf(p.Message, &e.Task, news))
	if a.Outcome != webhook.Delivered && sending.Err() != nil { // this process ends
		_, _, _ = c.ledger.Outbox.Write(ctx, &e.Task, p.Message, *mine, ledger.Tries{Count: mine.Count})
		return p.later(again)
	}
	sent = &a
	c.metrics.attempted(c.Name, a.Outcome)
	return c.conclude(ctx, p, &e.Task, *mine, a)
}

// claim has no other berth send a message for now, and returns its tries then; nil and a verdict where
// it is not to be sent, or not by this one.
func (c *courier) claim(ctx context.Context, p *parcel, t *task.Task) (mine *ledger.Tries, v verdict) {
	tries, err := c.ledger.Outbox.TriesOf(ctx, p.Message)
	now := c.ledger.Clock.Now()
	switch {
	case err != nil:
		return nil, p.later(again)
	case tries.Over:
		return nil, c.strike(ctx, p)
	case tries.Next.After(now):
		return nil, p.later(tries.Next.Sub(now))
	case now.Sub(t.Updated) > c.MaxAge:
		return nil, c.giveUp(ctx, p, t, tries, reasonAge, nil)
	case time.Now().Unix() < c.goneUntil.Load():
		return nil, c.giveUp(ctx, p, t, tries, reasonGone, nil)
	}
	next := ledger.Tries{Count: tries.Count, Next: now.Add(c.Timeout + claimSpare), By: c.ledger.Holder}
	next, ok, err := c.ledger.Outbox.Write(ctx, t, p.Message, tries, next)
	if err != nil || !ok {
		return nil, p.later(again)
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
	wait := max(c.backOff(next.Count), a.After)
	next.Next = c.ledger.Clock.Now().Add(wait)
	_, _, _ = c.ledger.Outbox.Write(ctx, t, p.Message, mine, next) // else the claim runs out
	v := p.later(wait)
	v.pause = min(a.After, pauseMost)
	return v
}

// backOff is how long to wait after so many attempts: twice as long each time, half of it by chance.
func (c *courier) backOff(count int) time.Duration {
	wait := c.Backoff
	for range count - 1 {
		if wait = 2 * wait; wait >= c.MaxBackoff {
			break
		}
	}
	return jitter(min(wait, c.MaxBackoff))
}

// jitter returns d, or as little as half of it.
func jitter(d time.Duration) time.Duration { return d/2 + rand.N(d/2+1) }

// giveUp has a message never be sent again. t is nil where there is no record.
func (c *courier) giveUp(ctx context.Context, p *parcel, t *task.Task, mine ledger.Tries, why string, last error) verdict {
	if t != nil {
		over := ledger.Tries{Count: mine.Count, Over: true}
		if _, ok, err := c.ledger.Outbox.Write(ctx, t, p.Message, mine, over); err != nil || !ok {
			return p.later(again)
		}
	}
	c.metrics.dropped(c.Name, why)
	c.log.Warn("a webhook message is given up", "task", p.Task, "reason", why, "attempts", mine.Count, "error", last)
	return c.strike(ctx, p)
}

// strike takes a message off its list.
func (c *courier) strike(ctx context.Context, p *parcel) verdict {
	if c.ledger.Outbox.Remove(ctx, p.Message) != nil {
		return p.later(again)
	}
	return verdict{of: p, over: true}
}

func (p *parcel) later(wait time.Duration) verdict {
	return verdict{of: p, due: time.Now().Add(wait)}
}
