package webhooks

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/webhook"
	"berth/upgrade/ledger"
	"berth/upgrade/task"
)

// courier tells one receiver.
type courier struct {
	Receiver
	ledger  *ledger.Ledger
	log     *slog.Logger
	metrics *metrics
	client  sender // nil: no rule names the receiver any more. It is sent nothing, and its messages are watched

	isAlone   atomic.Bool  // this berth leaves the receiver alone, or tries whether it is to
	goneUntil atomic.Int64 // in Unix seconds: the receiver wants no messages until then
	trouble   atomic.Pointer[string]
	waiting   atomic.Int64              // messages that are not delivered
	oldest    atomic.Pointer[time.Time] // since when the oldest of them waits, as this process's timers count; nil: there is none

	woken chan struct{} // holds one while told has something

	mu   sync.Mutex // guards the field below
	told []task.Message
}

func (w *Webhooks) newCourier(r Receiver) *courier {
	c := w.newUnnamed(r)
	c.client = w.connect(r.Receiver, c.leftAlone)
	return c
}

func (w *Webhooks) newUnnamed(r Receiver) *courier {
	return &courier{Receiver: r, ledger: w.ledger, log: w.log.With("webhook", r.Name), metrics: &w.metrics, woken: make(chan struct{}, 1)}
}

func (c *courier) isUnnamed() bool { return c.client == nil }

// turn is the client's; where nothing is sent there is none to wait for.
func (c *courier) turn() (webhook.Turn, error) {
	if c.isUnnamed() {
		return func(*webhook.Answer) {}, nil
	}
	return c.client.Turn()
}

func (c *courier) leftAlone(alone bool) {
	c.isAlone.Store(alone)
	if !alone {
		c.log.Info("a webhook's receiver takes messages again")
		return
	}
	last := ""
	if trouble := c.trouble.Load(); trouble != nil {
		last = *trouble
	}
	c.log.Warn("a webhook's receiver takes no messages: it is left alone for a while", "for", c.Alone.String(), "error", last)
}

// tell has a message be sent at once.
func (c *courier) tell(m task.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.told) < ledger.MaxMessages { // else it is found in the list
		c.told = append(c.told, m)
	}
	ledger.Signal(c.woken)
}

func (c *courier) take() (told []task.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	told, c.told = c.told, nil
	return told
}

// parcel is a message that is not delivered, as this berth knows it.
type parcel struct {
	task.Message
	found time.Time                 // when this berth heard of it
	due   time.Time                 // when it is to be looked at; zero: as soon as may be, or it is
	busy  bool                      // it is being looked at
	since atomic.Pointer[time.Time] // when that happened of which it tells, as this process's timers count; nil: it has not, as far as this berth knows

	tries ledger.Tries // as this berth read or wrote them last
	known time.Time    // since when they are these
}

// knew returns for how long this berth has known that the tries are these.
func (p *parcel) knew(tries ledger.Tries) time.Duration {
	if now := time.Now(); p.known.IsZero() || !p.tries.Is(tries) {
		p.tries, p.known = tries, now
	}
	return time.Since(p.known)
}

// happened notes since when that is so of which the message tells. What was noted first stays: the store's clock may be set since.
func (p *parcel) happened(at time.Time) {
	if now := time.Now(); at.After(now) {
		at = now
	}
	p.since.CompareAndSwap(nil, &at)
}

// lastMoment is how long an attempt that is under way may take when the courier stops.
const lastMoment = 2 * time.Second

// run sends what is due until ctx ends.
func (c *courier) run(ctx context.Context) {
	if !c.isUnnamed() {
		defer c.client.Close()
	}
	sending, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	r := round{c: c, all: map[task.Message]*parcel{}, verdicts: make(chan verdict, c.Concurrency)}
	beat := time.NewTicker(c.ledger.Epoch.Beat())
	defer beat.Stop()
	r.look(ctx)
	for {
		r.start(sending)
		select {
		case <-ctx.Done():
			defer time.AfterFunc(lastMoment, cut).Stop()
			for ; r.busy > 0; r.busy-- {
				<-r.verdicts
			}
			return
		case <-beat.C:
			r.look(ctx)
		case <-c.woken:
			r.told(c.take())
		case v := <-r.verdicts:
			r.hear(ctx, v)
		case <-r.timer():
			r.wake()
		}
		c.waiting.Store(int64(len(r.all)))
	}
}
