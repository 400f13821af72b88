package drain

import (
	"context"
	"time"

	"berth/sticky"
)

const (
	readToStrike = 64   // bindings that are read so that a list's errors are found, whoever asks for how few
	readToMove   = 5000 // sessions of which one question finds out whether they can be opened anew
)

// items reads what is left, and leaves out what is in nobody's way: with moves, sessions that can move. Of
// what was read in full owned says when the last is forgotten as that itself does, not as its list does.
func (w *Watch) items(ctx context.Context, s *Status, owned *sticky.Owned, most int, moves bool) error {
	read := most
	if moves {
		read = max(most, readToMove)
	}
	if most <= 0 && !s.Draining {
		return nil
	}
	tasks, all, err := w.o.Bindings.Left(ctx, sticky.Task, s.Pool, s.Name, max(most, readToStrike))
	if err != nil {
		return err
	}
	s.Left.Tasks = all
	if len(tasks) == all {
		owned.TasksUntil = lastOf(tasks)
	}
	s.add(tasks, w.o.IDs, most)
	sessions, all, err := w.o.Bindings.Left(ctx, sticky.Session, s.Pool, s.Name, max(read, readToStrike))
	if err != nil {
		return err
	}
	s.Left.Sessions = all
	whole := len(sessions) == all
	if moves {
		sessions = s.leaveOutMovable(sessions)
	}
	if whole {
		owned.SessionsUntil = lastOf(sessions)
	}
	s.add(sessions, w.o.IDs, most)
	s.More = s.Left.Tasks + s.Left.Sessions - len(s.Items)
	return nil
}

// lastOf is when the last of what is left may be forgotten.
func lastOf(left []sticky.Left) (last time.Time) {
	for _, one := range left {
		if one.Expires.After(last) {
			last = one.Expires
		}
	}
	return last
}

// leaveOutMovable counts those apart that can be opened anew.
func (s *Status) leaveOutMovable(sessions []sticky.Left) (others []sticky.Left) {
	for _, one := range sessions {
		if time.Now().Before(one.Binding.Kept) {
			s.Movable++
			continue
		}
		others = append(others, one)
	}
	s.Left.Sessions -= s.Movable
	return others
}

// add lists what is left, up to most things.
func (s *Status) add(left []sticky.Left, ids *IDs, most int) {
	for _, one := range left {
		if len(s.Items) < most {
			s.Items = append(s.Items, ItemOf(one, ids))
		}
	}
}
