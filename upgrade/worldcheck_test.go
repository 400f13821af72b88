package upgrade

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"berth/internal/storage"
	"berth/upgrade/ledger"
	"berth/upgrade/queues"
	"berth/upgrade/task"
)

func (w *world) flushes() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lost
}

// notUnknown checks that a task that was handed out is not called unknown.
func (w *world) notUnknown(k *known, err error) {
	if errors.Is(err, ErrUnknown) && w.flushes() == k.since() {
		w.wrong.add("%s is unknown", k.call)
	}
}

func (k *known) since() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.lost
}

// seen is what was known of a task at a time.
type seen struct {
	ended     string
	cancelled bool
	answered  []string
	lost      int
	late      bool
}

func (k *known) snapshot() seen {
	k.mu.Lock()
	defer k.mu.Unlock()
	return seen{k.ended, k.cancelled, slices.Clone(k.answered), k.lost, k.late}
}

// compare checks a poll's answer against what was known before the poll.
func (w *world) compare(b *berth, k *known, before *seen, v View, err error, flushes int) {
	w.notUnknown(k, err)
	if err != nil || w.flushes() != before.lost || flushes != before.lost {
		return // what was known may be lost with what was flushed
	}
	now := ""
	if v.State.Terminal() {
		now = string(v.State) + " " + string(v.Outcome)
	}
	switch away := !b.line.Health().Healthy; {
	case now != "" && before.ended != "" && now != before.ended:
		w.wrong.add("%s ended twice: %s, %s", k.call, before.ended, now)
	case now == "" && !away && (before.ended != "" || before.cancelled):
		w.wrong.add("%s is %s though it has ended: %s, cancelled %v", k.call, v.State, before.ended, before.cancelled)
	}
	for _, ask := range v.Outstanding() {
		if (w.old == nil || b.line.Health().Healthy) && slices.Contains(before.answered, ask.Key) && slices.ContainsFunc(v.Asks, func(a Ask) bool { return a.Key == ask.Key }) {
			w.wrong.add("%s asks again for %s", k.call, ask.Key)
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if now != "" {
		k.ended = now
	}
	k.safe = k.safe || v.Resumable()
	for _, ask := range v.Asks {
		if !slices.Contains(k.asked, ask.Key) {
			k.asked = append(k.asked, ask.Key)
		}
	}
}

// check returns what must not be when nothing moves any more.
func (w *world) check() []string {
	var left noted
	living := w.living()
	open := map[string]bool{}
	for _, k := range w.made() {
		before := k.snapshot()
		states := map[string]bool{}
		for _, b := range living {
			v, err := b.Reader.Get(context.Background(), k.id, somebody)
			w.compare(b, k, &before, v, err, w.flushes())
			switch {
			case err != nil:
				states[err.Error()] = true
				if !errors.Is(err, ErrUnknown) {
					left.add("%s: %v", k.call, err)
				}
			case !v.State.Terminal() && v.State != InputRequired:
				left.add("%s is stuck: %s, held by %s, round %d", k.call, v.State, v.Holder, v.Round)
			default:
				states[string(v.State)+" "+string(v.Outcome)] = true
			}
			if _, err := storage.GetBlob(context.Background(), w.settings.at.Load(), ledger.CallKey(k.id)); v.State.Terminal() && !v.MayRerun() && err == nil {
				left.add("%s has ended, and its call is still kept", k.call)
			}
			if v.State == InputRequired {
				open[k.id] = true
			}
			if err == nil && k.noted && v.wasLostUnsent() && w.flushes() == k.since() {
				left.add("%s was handed out and not sent, and is lost", k.call)
			}
		}
		if len(states) > 1 {
			left.add("berths differ about %s: %v", k.call, states)
		}
	}
	w.checkTool(&left)
	if w.old != nil {
		w.checkOld(&left)
	}
	w.checkLists(&left, living, open)
	return left.all()
}

// checkTool checks what the upstreams have seen.
func (w *world) checkTool(left *noted) {
	w.tool.mu.Lock()
	defer w.tool.mu.Unlock()
	for _, k := range w.made() {
		for stage := range 4 {
			if n := w.tool.executed[fmt.Sprint(k.call, " ", stage)]; n > 1 && !k.rerun {
				left.add("%s ran %d times in stage %d", k.call, n, stage)
			}
		}
	}
	for _, k := range w.made() {
		if n := w.tool.rounds[k.call+" 1"]; n > 1 && !k.rerun {
			left.add("the first round of %s was sent %d times", k.call, n)
		}
	}
	for upstream, n := range w.tool.most {
		if n > 1 {
			left.add("%d calls at once at %s, where one may be", n, upstream)
		}
	}
	if len(w.tool.inside) > 0 {
		left.add("%d calls are still under way", len(w.tool.inside))
	}
}

// isStray reports whether a place is one whose holder has died between the end of its call and giving it back: who waits for one takes it.
func (w *world) isStray(b *berth, place string) bool {
	id, rest, _ := strings.Cut(place, " ")
	holder, _, _ := strings.Cut(rest, " ")
	e, err := b.ledger.Records.Get(context.Background(), id)
	return err == nil && e.State.Terminal() && slices.ContainsFunc(w.berths, func(b *berth) bool { return b.ledger.Holder == holder && b.line.isDead() })
}

// checkLists checks that nothing is listed any more but what waits for its client.
func (w *world) checkLists(left *noted, living []*berth, open map[string]bool) {
	l := living[0].ledger.Lists
	terms := rule(func(r *Rule) { r.Concurrency = 1 }).Terms(poolName)
	for _, list := range []string{queues.WaitingIn(terms.Queue), l.SlotsOf(terms.Queue, "u"), l.SlotsOf(terms.Queue, "v")} {
		if listed := slices.DeleteFunc(w.members(list), func(name string) bool { return w.wasFlushed(name) || w.isStray(living[0], name) }); len(listed) > 0 {
			left.add("%s still has %q", list, listed)
		}
	}
	for _, b := range w.berths {
		if listed := w.members(l.TasksOf(b.ledger.Holder)); len(listed) > 0 {
			left.add("%s still has %q", l.TasksOf(b.ledger.Holder), listed)
		}
	}
	if len(living) < len(w.berths) {
		return // who died while it made a task, or took its end down, has left an entry to be weeded
	}
	for _, id := range w.members(l.LiveOf(poolName, somebody.Principal)) {
		if _, err := living[0].ledger.Records.Get(context.Background(), id); err == nil && !open[id] {
			left.add("%s is counted as live", id)
		}
	}
	for _, b := range living {
		if held := b.Held(); held > 0 {
			left.add("%d calls are still held", held)
		}
	}
}

// wasFlushed reports whether an entry is of a task whose record was flushed, and which
// a process entered somewhere as the last thing that it did. Whoever it is in the way of
// weeds it out.
func (w *world) wasFlushed(name string) bool {
	id, _, _ := strings.Cut(name, " ")
	_, err := w.record(id)
	return w.flushes() > 0 && errors.Is(err, ErrUnknown)
}

// record is the one that stands, whatever the berths' lines are like.
func (w *world) record(id string) (Task, error) { return recordIn(w.living()[0].line.at.Load(), id) }

// recordIn is the one that stands in a store.
func recordIn(s storage.Engine, id string) (Task, error) {
	record, err := s.Get(context.Background(), ledger.TaskKey(id))
	if errors.Is(err, storage.ErrNotFound) {
		return Task{}, ErrUnknown
	}
	if err != nil {
		return Task{}, err
	}
	decoded, err := task.Decode(record.Value)
	if err != nil {
		return Task{}, err
	}
	return *decoded, nil
}

func (w *world) members(list string) []string {
	members, err := w.settings.at.Load().Members(context.Background(), list)
	if err != nil {
		w.wrong.add("%v", err)
	}
	return members
}
