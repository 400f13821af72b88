package engine

import (
	"context"
	"errors"
	"time"
)

// Step is one write of InOrder, as one of the functions below makes it.
type Step struct {
	Kind    string        // as inOrderScript knows it
	Key     string        // of the record or the list; the topic
	Word    string        // the member of a list; the message
	Value   []byte        // of a record
	Life    time.Duration // of the record or the member, as Engine has it
	Version uint64        // that is to stand before it
}

// String tells what the step does, and to what.
func (s Step) String() string { return s.Kind + " " + s.Key }

// Writes reports whether the step writes a record, if it is done.
func (s Step) Writes() bool {
	return s.Kind == WriteAlways || s.Kind == WriteIfAbsent || s.Kind == WriteIfVersion
}

// What steps do.
const (
	WriteIfAbsent  = "absent"
	WriteIfVersion = "swap"
	WriteAlways    = "put"
	StepKeep       = "keep"
	StepDelist     = "delist"
	StepDelete     = "delete"
	StepNotify     = "notify"
)

// Putting is Put as a step. The value is InOrder's from then on.
func Putting(key string, value []byte, ttl time.Duration) Step {
	return Step{Kind: WriteAlways, Key: key, Value: value, Life: ttl}
}

// Making is PutIfAbsent as a step, which ends what InOrder does if a record stands. The value is InOrder's from then on.
func Making(key string, value []byte, ttl time.Duration) Step {
	return Step{Kind: WriteIfAbsent, Key: key, Value: value, Life: ttl}
}

// Swapping is Swap as a step, which ends what InOrder does if another version stands. The value is InOrder's from then on.
func Swapping(key string, version uint64, value []byte, ttl time.Duration) Step {
	return Step{Kind: WriteIfVersion, Key: key, Value: value, Life: ttl, Version: version}
}

// Keeping is KeepMembers as a step, of one member.
func Keeping(list, member string, left time.Duration) Step {
	return Step{Kind: StepKeep, Key: list, Word: member, Life: left}
}

// Removing is RemoveMember as a step.
func Removing(list, member string) Step {
	return Step{Kind: StepDelist, Key: list, Word: member}
}

// Deleting is Delete as a step.
func Deleting(key string) Step { return Step{Kind: StepDelete, Key: key} }

// Notifying is Notify as a step.
func Notifying(topic, message string) Step {
	return Step{Kind: StepNotify, Key: topic, Word: message}
}

// OneByOne is InOrder where each step is an operation of its own.
func OneByOne(ctx context.Context, e Engine, steps []Step) (done int, standing Record, err error) {
	for i := range steps {
		stood, standing, err := steps[i].do(ctx, e)
		if stood || err != nil {
			return i, standing, err
		}
	}
	return len(steps), Record{}, nil
}

// do does a step, unless it reports that another record stands in its way, or none.
func (s *Step) do(ctx context.Context, e Engine) (stood bool, standing Record, err error) {
	switch s.Kind {
	case WriteAlways:
		return false, Record{}, e.Put(ctx, s.Key, s.Value, s.Life)
	case WriteIfAbsent:
		standing, made, err := e.PutIfAbsent(ctx, s.Key, s.Value, s.Life)
		return err == nil && !made, standing, err
	case WriteIfVersion:
		standing, err := e.Swap(ctx, s.Key, s.Version, s.Value, s.Life)
		if errors.Is(err, ErrConflict) || errors.Is(err, ErrNotFound) {
			return true, standing, nil
		}
		return false, Record{}, err
	case StepKeep:
		return false, Record{}, e.KeepMembers(ctx, s.Key, Member{Name: s.Word, Left: s.Life})
	case StepDelist:
		return false, Record{}, e.RemoveMember(ctx, s.Key, s.Word)
	case StepDelete:
		return false, Record{}, e.Delete(ctx, s.Key)
	}
	return false, Record{}, e.Notify(ctx, s.Key, s.Word)
}
