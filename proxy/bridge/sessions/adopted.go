package sessions

import (
	"time"

	"berth/internal/exchange"
	"berth/proxy/bridge/legacy"
)

// Adopt is a session that another berth may have opened, in use by a call that goes on here. It stands on no shelf. If keep is
// not 0 it is ended that long after its last use, unless that leaves it to others, but not before tasks have ended that were made
// there and live that long.
func (reg *Registry) Adopt(s legacy.Session, keep, tasks time.Duration) *Session {
	l := &Session{Session: s, registry: reg, level: -1, users: 1, alone: true, gone: true, adopted: keep}
	if tasks > 0 {
		l.KeepTask(othersTasks, time.Now().Add(tasks))
	}
	return l
}

// othersTasks stands for the tasks that other berths know of: no server's id is empty.
const othersTasks = ""

// Of lends the session that a task lives in, whoever has it: what is asked about a task disturbs
// no call. One that another berth has opened is not this one's to end.
func (reg *Registry) Of(at *legacy.Upstream, id string, opened *exchange.Request) *Session {
	reg.mu.Lock()
	defer reg.mu.Unlock()
	for _, s := range reg.shelves {
		for _, l := range s.loans {
			if l.ID == id && id != "" {
				l.users++
				l.noteUse(opened)
				return l
			}
		}
	}
	return &Session{Session: legacy.Session{At: at, ID: id, Version: legacy.Version, Opened: opened}, registry: reg, level: -1, users: 1, gone: true}
}
