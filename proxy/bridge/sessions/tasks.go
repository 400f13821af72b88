package sessions

import (
	"time"

	"berth/proxy/resident"
)

// maxTasks bounds how many tasks of a session are remembered. Of more, those that live longest keep
// it open.
const maxTasks = 1000

// outcomeKept is for how long a session stays open once the end of its task was told: that answer may be lost on its way, and its client ask
// once more, at another berth.
const outcomeKept = 2 * time.Minute

// KeepTask keeps the session open for a task of its own until that has ended or expired.
func (l *Session) KeepTask(core string, until time.Time) {
	l.registry.mu.Lock()
	defer l.registry.mu.Unlock()
	if l.tasks == nil {
		l.tasks = keptTasks{}
	}
	l.tasks.keep(core, until)
}

// TellTask notes that the end of a task is being told: that keeps the session open for a while yet, and not where others need its place. A
// process is not kept for it: no other berth has that.
func (l *Session) TellTask(core string) {
	l.registry.mu.Lock()
	defer l.registry.mu.Unlock()
	if l.parked || resident.Is(l.At.URL) {
		delete(l.tasks, core)
		return
	}
	l.tasks.tell(core)
}

// ForgetTask undoes KeepTask.
func (l *Session) ForgetTask(core string) {
	l.registry.mu.Lock()
	defer l.registry.mu.Unlock()
	delete(l.tasks, core)
}

// TasksLive is for how long tasks keep the session open, as far as this berth knows.
func (l *Session) TasksLive() time.Duration {
	l.registry.mu.Lock()
	defer l.registry.mu.Unlock()
	return l.tasks.live()
}

// keptTasks are those that keep a session open, by their servers' ids. Registry.mu guards them.
type keptTasks map[string]keptTask

type keptTask struct {
	until time.Time
	told  bool // its end was
}

func (k keptTasks) keep(core string, until time.Time) {
	k[core] = keptTask{until: until}
	if len(k) <= maxTasks {
		return
	}
	first := core
	for other, task := range k {
		if task.until.Before(k[first].until) {
			first = other
		}
	}
	delete(k, first)
}

func (k keptTasks) tell(core string) {
	task, kept := k[core]
	if !kept || task.told {
		return
	}
	if end := time.Now().Add(outcomeKept); end.Before(task.until) {
		task.until = end
	}
	task.told = true
	k[core] = task
}

// live is for how long they keep the session open. It forgets those that are over.
func (k keptTasks) live() (longest time.Duration) {
	for core, task := range k {
		left := time.Until(task.until)
		if left <= 0 {
			delete(k, core)
		}
		longest = max(longest, left)
	}
	return longest
}

// any reports whether they keep it open at all.
func (k keptTasks) any() bool { return k.live() > 0 }

// untold reports whether it would be lost with the session what one of them comes to.
func (k keptTasks) untold() bool {
	for _, task := range k {
		if !task.told && time.Until(task.until) > 0 {
			return true
		}
	}
	return false
}

// living are those whose ends nobody was told: one whose end was told asks nothing any more. known: all that live in the session are among them, none of
// which other berths alone know.
func (k keptTasks) living() (cores []string, known bool) {
	k.live()
	for core, task := range k {
		switch {
		case task.told:
		case core == othersTasks:
			return nil, false
		default:
			cores = append(cores, core)
		}
	}
	return cores, true
}
