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

// keptTask is a task that keeps its session open.
type keptTask struct {
	until time.Time
	told  bool // its end was
}

// KeepTask keeps the session open for a task of its own until that has ended or expired.
func (l *Session) KeepTask(core string, until time.Time) {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	if l.tasks == nil {
		l.tasks = map[string]keptTask{}
	}
	l.tasks[core] = keptTask{until: until}
	if len(l.tasks) > maxTasks {
		first := core
		for other, task := range l.tasks {
			if task.until.Before(l.tasks[first].until) {
				first = other
			}
		}
		delete(l.tasks, first)
	}
}

// TellTask notes that the end of a task is being told: that keeps the session open for a while yet, and not where others need its place. A
// process is not kept for it: no other berth has that.
func (l *Session) TellTask(core string) {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	task, kept := l.tasks[core]
	switch {
	case !kept || task.told:
		return
	case l.parked, resident.Is(l.At.URL):
		delete(l.tasks, core)
		return
	}
	if end := time.Now().Add(outcomeKept); end.Before(task.until) {
		task.until = end
	}
	task.told = true
	l.tasks[core] = task
}

// ForgetTask undoes KeepTask.
func (l *Session) ForgetTask(core string) {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	delete(l.tasks, core)
}

// hasTasks reports whether tasks keep the session open, as far as this berth knows. The caller holds
// p.mu.
func (l *Session) hasTasks() bool { return l.tasksLive() > 0 }

// hasUntold reports whether it would be lost with the session what a task comes to. The caller holds Pool.mu.
func (l *Session) hasUntold() bool {
	for _, task := range l.tasks {
		if !task.told && time.Until(task.until) > 0 {
			return true
		}
	}
	return false
}

// TasksLive is for how long tasks keep the session open, as far as this berth knows.
func (l *Session) TasksLive() time.Duration {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	return l.tasksLive()
}

// tasksLive is TasksLive for a caller that holds p.mu. It forgets those that are over.
func (l *Session) tasksLive() (longest time.Duration) {
	for core, task := range l.tasks {
		left := time.Until(task.until)
		if left <= 0 {
			delete(l.tasks, core)
		}
		longest = max(longest, left)
	}
	return longest
}

// Listed reports whether the tools were learned that the session has.
func (l *Session) Listed() bool { return l.listed.Load() }

// NoteListed notes that they were.
func (l *Session) NoteListed() { l.listed.Store(true) }
