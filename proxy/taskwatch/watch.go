package taskwatch

import (
	"slices"
	"time"

	"berth/upgrade"
)

// Watch is the tasks that one listener waits for, and when each is to be read. It is for
// one goroutine.
type Watch struct {
	poller  *Poller
	changes *upgrade.Watcher // the zero one wakes nobody
	tasks   []watched        // in the order in which they were added
}

type watched struct {
	id  string
	due time.Time // when it is read, whether anybody told of it or not
}

// Watch begins to watch tasks, all of which are due at once. Who reads a task afterwards
// misses no change. Stop it when nobody listens any more.
func (p *Poller) Watch(ids ...string) *Watch {
	w := &Watch{poller: p, changes: &upgrade.Watcher{}}
	w.Add(ids...)
	return w
}

// Add watches more tasks, which are due at once.
func (w *Watch) Add(ids ...string) {
	if len(ids) == 0 {
		return
	}
	for _, id := range ids {
		w.tasks = append(w.tasks, watched{id: id})
	}
	w.poller.Count(int64(len(ids)))
	before := w.changes
	w.changes = w.poller.tasks.WatchAll(w.ids())
	before.Stop()
	w.hasten(before.Take()) // what was told meanwhile
}

// Remove watches a task no more: there is nothing more to tell of it.
func (w *Watch) Remove(id string) {
	n := len(w.tasks)
	w.tasks = slices.DeleteFunc(w.tasks, func(task watched) bool { return task.id == id })
	w.poller.Count(int64(len(w.tasks) - n))
}

// Len is how many tasks are watched.
func (w *Watch) Len() int { return len(w.tasks) }

// Changed holds a word while TakeChanges has something to take in. Ask for it anew after each Add.
func (w *Watch) Changed() <-chan struct{} { return w.changes.Woken }

// TakeChanges makes those tasks due that somebody told of.
func (w *Watch) TakeChanges() { w.hasten(w.changes.Take()) }

func (w *Watch) hasten(ids []string) {
	for i := range w.tasks {
		if slices.Contains(ids, w.tasks[i].id) {
			w.tasks[i].due = time.Time{}
		}
	}
}

// Next is when the next task is due. There must be one.
func (w *Watch) Next() time.Time {
	return slices.MinFunc(w.tasks, func(a, b watched) int { return a.due.Compare(b.due) }).due
}

// Due returns the tasks that are due.
func (w *Watch) Due() (ids []string) {
	now := time.Now()
	for _, task := range w.tasks {
		if !now.Before(task.due) {
			ids = append(ids, task.id)
		}
	}
	return ids
}

// Later makes a task due after its interval.
func (w *Watch) Later(id string, poll time.Duration) {
	for i := range w.tasks {
		if w.tasks[i].id == id {
			w.tasks[i].due = time.Now().Add(w.poller.Interval(poll))
		}
	}
}

// Stop ends the watch.
func (w *Watch) Stop() {
	w.changes.Stop()
	w.poller.Count(-int64(len(w.tasks)))
	w.tasks = nil
}

func (w *Watch) ids() []string {
	ids := make([]string, len(w.tasks))
	for i, task := range w.tasks {
		ids[i] = task.id
	}
	return ids
}
