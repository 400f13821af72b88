package ledger

import (
	"context"
	"errors"
	"fmt"

	"berth/internal/storage"
	"berth/upgrade/task"
)

// Amid is what the store is to do beside a step of a task: in the same trip, where it has one server.
type Amid struct {
	Before []storage.Step                                          // each time that the step is tried
	After  func(to []storage.Step, next *task.Task) []storage.Step // adds to others what is done if the step is taken; nil: nothing
	Whole  bool                                                    // ApplyAmid has done all of After
}

// ErrUntaken says, beside why, that a step was not taken: the store did not take what goes before it.
var ErrUntaken = errors.New("upgrade: the step was not taken")

// ApplyAmid is Apply amid other steps. That the step is taken does not depend on those after it.
func (r Records) ApplyAmid(ctx context.Context, e Entry, op *task.Op, amid *Amid) (Entry, error) {
	tried := e.Task
	for range maxRaces {
		next, changed, err := task.Transition(e.Task, op)
		if err != nil || !changed {
			r.dropAside(ctx, tried, e.Task)
			return e, err
		}
		if err := r.setAside(ctx, next); err != nil {
			return e, errors.Join(ErrUntaken, err)
		}
		told := next.Messages(e.Task)
		if err := r.outbox.Add(ctx, next, told); err != nil {
			return e, err
		}
		taken, standing, err := r.swap(ctx, e, next, amid)
		switch {
		case taken:
			r.outbox.due(told)
			r.dropAside(ctx, e.Task, next)
			return Entry{next, e.Version + 1, e.key}, nil
		case err != nil:
			return e, fmt.Errorf("upgrade: storing a task: %w", err)
		case standing.Version == 0:
			return e, ErrUnknown
		}
		tried = next
		if e, err = parse(standing); err != nil {
			return e, err
		}
	}
	return e, fmt.Errorf("upgrade: storing a task: %w: others were first again and again", storage.ErrUnavailable)
}

// swap stores next in the place of e, amid other steps, and reports whether it has; else what stands.
func (r Records) swap(ctx context.Context, e Entry, next *task.Task, amid *Amid) (taken bool, standing storage.Record, err error) {
	room := takeStepRoom()
	defer room.giveBack()
	steps := append(room[:0], amid.Before...)
	steps = append(steps, storage.Swapping(e.at(), e.Version, next.Encode(), storage.KeepTTL))
	own := len(steps)
	if amid.After != nil {
		steps = amid.After(steps, next)
	}
	done, standing, err := r.store.InOrder(ctx, steps...)
	amid.Whole = amid.After != nil && done == len(steps)
	return done >= own, standing, err
}
