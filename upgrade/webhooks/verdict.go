package webhooks

import (
	"context"
	"math/rand/v2"
	"time"

	"berth/internal/webhook"
	"berth/upgrade/ledger"
	"berth/upgrade/task"
)

// verdict is what came of looking at a parcel.
type verdict struct {
	of    *parcel
	sent  *webhook.Answer // what came of sending it; nil: it was not sent
	over  bool            // it is in the list no more
	due   time.Time       // when to look again
	pause time.Duration   // how long nothing is to be tried; 0: at once
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

// within is wait, or until the task is forgotten: a message that nobody looks at would go with it, and
// nobody would hear.
func (c *courier) within(t *task.Task, wait time.Duration) time.Duration {
	return min(wait, c.ledger.Left(t)+ledger.Spare+again)
}

// forgotten gives up a message whose task there is no more.
func (c *courier) forgotten(ctx context.Context, p *parcel) verdict {
	tries, err := c.ledger.Outbox.TriesOf(ctx, p.Message)
	switch {
	case err != nil:
		return p.afterOutage()
	case tries.Over:
		return c.strike(ctx, p)
	}
	return c.giveUp(ctx, p, nil, tries, reasonForgotten, nil)
}

// giveUp has a message never be sent again, unless another berth was first. t is nil where there is no
// record.
func (c *courier) giveUp(ctx context.Context, p *parcel, t *task.Task, mine ledger.Tries, why string, last error) verdict {
	_, ok, err := c.ledger.Outbox.Write(ctx, t, p.Message, mine, ledger.Tries{Count: mine.Count, Over: true})
	if err != nil || !ok {
		return p.later(again)
	}
	c.metrics.dropped(c.Name, why)
	c.log.Warn("a webhook message is given up", "task", p.Task, "reason", why, "attempts", mine.Count, "error", last)
	return c.strike(ctx, p)
}

// strike takes a message off its list.
func (c *courier) strike(ctx context.Context, p *parcel) verdict {
	if c.ledger.Outbox.Remove(ctx, p.Message) != nil {
		return p.afterOutage()
	}
	return verdict{of: p, over: true}
}

func (p *parcel) later(wait time.Duration) verdict {
	return verdict{of: p, due: time.Now().Add(wait)}
}

// afterOutage has nothing be tried for a moment: the store is away for all messages.
func (p *parcel) afterOutage() verdict {
	v := p.later(again)
	v.pause = again
	return v
}
