package ledger

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"berth/internal/storage"
	"berth/upgrade/task"
)

// Delivery is the right to tell a client what may go down one of its streams only
// (2025-11-25, transports, "Multiple Connections"), among the berths that have streams to
// it. A berth keeps it until it gives it back, or its lease is gone; what is never given
// back expires with the task. Where no other process sees the store it costs nothing; else
// the first Take writes, and so does GiveBack.
type Delivery struct {
	l     *Ledger
	list  string // holds one member
	name  string // this one's
	about string // what those watch who wait for it
	life  time.Duration

	mu    sync.Mutex // guards the fields below
	asked bool       // the store may have this one's name
	mine  bool
	known time.Time // when the store said so
}

// Deliveries hands out the rights to tell.
type Deliveries struct{ l *Ledger }

// TaskDelivery is the right to tell of a task in the session that SessionKey names, "" for
// none.
func (d Deliveries) TaskDelivery(t *task.Task, session string) *Delivery {
	return d.l.delivery(d.l.Lists.deliversOf(t.ID, session), t.ID, d.l.Left(t)+Spare)
}

// SessionDelivery is the right to tell how the tasks of one creator in a session fare: whoever
// may not hear of them must not take it. With principals all are of one, the zero Creator.
func (d Deliveries) SessionDelivery(session string, whose task.Creator) *Delivery {
	return d.l.delivery(d.l.Lists.DeliversIn(session, whose.Credentials), SessionTopic(session), OverLife)
}

// delivery gives each Delivery a name of its own: what is given back late must not be what
// was taken since.
func (l *Ledger) delivery(list, about string, life time.Duration) *Delivery {
	return &Delivery{l: l, list: list, name: l.Holder + " " + task.NewName(6), about: about, life: life}
}

// Take takes the right unless another berth has it, and reports whether it is this one's
// now. With sure the store is asked, however recently it was. What the store cannot say is
// no change; that is its error.
func (d *Delivery) Take(ctx context.Context, sure bool) (mine bool, err error) {
	if !d.l.Store.Shared() {
		return true, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.mine && !sure && time.Since(d.known) < d.l.Epoch.Beat() {
		return true, nil
	}
	d.asked = true
	mine, err = d.l.takeDelivery(ctx, d)
	if err == nil {
		d.mine, d.known = mine, time.Now()
	}
	return d.mine, err
}

// takeDelivery lists d, in the place of a berth that is gone if there is one.
func (l *Ledger) takeDelivery(ctx context.Context, d *Delivery) (mine bool, err error) {
	if err := l.stayAlive(ctx); err != nil {
		return false, err
	}
	err = l.Lists.Add(ctx, d.list, d.name, d.life, 1)
	if errors.Is(err, storage.ErrFull) && l.expelDead(ctx, d.list) {
		err = l.Lists.Add(ctx, d.list, d.name, d.life, 1)
	}
	if errors.Is(err, storage.ErrFull) {
		return false, nil
	}
	return err == nil, err
}

// expelDead takes berths that are gone off a list, and reports whether there was one. As
// the reaper it believes only a store that has served for as long as a lease lives.
func (l *Ledger) expelDead(ctx context.Context, list string) (expelled bool) {
	if !l.Epoch.IsStable() {
		return false
	}
	names, err := l.Store.Members(ctx, list)
	for _, name := range names {
		holder, _, _ := strings.Cut(name, " ")
		if holder == l.Holder {
			continue // another stream of this berth gives it back
		}
		if lives, err := l.Lists.Stands(ctx, holder); lives || err != nil {
			continue
		}
		expelled = l.Store.RemoveMember(ctx, list, name) == nil || expelled
	}
	return expelled && err == nil
}

// GiveBack gives the right back if Take may have taken it, as soon as the store takes that,
// and tells those who wait for it. ctx may have ended.
func (d *Delivery) GiveBack(ctx context.Context) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.asked {
		return
	}
	d.asked, d.mine = false, false
	ctx, cancel := Bounded(context.WithoutCancel(ctx))
	defer cancel()
	d.l.Backlog.Do(ctx, func(ctx context.Context) error {
		err := d.l.Store.RemoveMember(ctx, d.list, d.name)
		if err == nil {
			d.l.Notices.Tell(ctx, d.about)
		}
		return err
	})
}
