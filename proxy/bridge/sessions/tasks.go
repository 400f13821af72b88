package sessions

import "time"

// maxTasks bounds how many tasks of a session are remembered. Of more, those that live longest keep
// it open.
const maxTasks = 1000

// KeepTask keeps the session open for a task of its own until that has ended or expired.
func (l *Session) KeepTask(core string, until time.Time) {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	if l.tasks == nil {
		l.tasks = map[string]time.Time{}
	}
	l.tasks[core] = until
	if len(l.tasks) > maxTasks {
		first := core
		for other, at := range l.tasks {
			if at.Before(l.tasks[first]) {
				first = other
			}
		}
		delete(l.tasks, first)
	}
}

// ForgetTask undoes KeepTask.
func (l *Session) ForgetTask(core string) {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	delete(l.tasks, core)
}

// hasTasks reports whether tasks of the session live, as far as this berth knows. The caller holds
// p.mu.
func (l *Session) hasTasks() bool { return l.tasksLive() > 0 }

// TasksLive is for how long tasks of the session live, as far as this berth knows.
func (l *Session) TasksLive() time.Duration {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	return l.tasksLive()
}

// tasksLive is TasksLive for a caller that holds p.mu. It forgets those that are over.
func (l *Session) tasksLive() (longest time.Duration) {
	for core, until := range l.tasks {
		left := time.Until(until)
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
