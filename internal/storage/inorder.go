package storage

import (
	"context"
	"errors"
	"time"
)

// Step is one write of InOrder, as one of the functions below makes it.
type Step struct {
	kind    string // as inOrderScript knows it
	key     string // of the record or the list; the topic
	word    string // the member of a list; the message
	value   []byte // of a record
	life    time.Duration
	version uint64
}

// String tells what the step does, and to what.
func (s Step) String() string { return s.kind + " " + s.key }

// What steps do.
const (
	stepKeep   = "keep"
	stepDelist = "delist"
	stepDelete = "delete"
	stepNotify = "notify"
)

// Putting is Put as a step, Making PutIfAbsent, and Swapping Swap. The last two end what InOrder does if another record
// stands. A value is InOrder's from then on.
func Putting(key string, value []byte, ttl time.Duration) Step {
	return Step{kind: writeAlways, key: key, value: value, life: ttl}
}
func Making(key string, value []byte, ttl time.Duration) Step {
	return Step{kind: writeIfAbsent, key: key, value: value, life: ttl}
}
func Swapping(key string, version uint64, value []byte, ttl time.Duration) Step {
	return Step{kind: writeIfVersion, key: key, value: value, life: ttl, version: version}
}

// Keeping is KeepMembers as a step, of one member, Removing RemoveMember, Deleting Delete, and Notifying Notify.
func Keeping(list, member string, left time.Duration) Step {
	return Step{kind: stepKeep, key: list, word: member, life: left}
}
func Removing(list, member string) Step {
	return Step{kind: stepDelist, key: list, word: member}
}
func Deleting(key string) Step { return Step{kind: stepDelete, key: key} }
func Notifying(topic, message string) Step {
	return Step{kind: stepNotify, key: topic, word: message}
}

// InOrder does steps one after the other, as far as the first one that another record stands in the way of, and returns
// how many it has done and what stands there; the zero Record: nothing does, or all are done. On one server it is one round
// trip, in which nobody else does anything; else, and if there is one step, each is an operation of its own. After an error some of the first may
// be done, and are counted as far as that is known.
func (s *Store) InOrder(ctx context.Context, steps ...Step) (done int, standing Record, err error) {
	if len(steps) == 0 {
		return 0, Record{}, nil
	}
	together, ok := s.engine.(orderedWriter)
	if _, several := s.engine.(parted); several || !ok || len(steps) == 1 {
		return OneByOne(ctx, s, steps)
	}
	err = s.do(ctx, opEach, "", func(ctx context.Context) (err error) {
		done, standing, err = together.inOrder(ctx, steps)
		return err
	})
	return done, standing, err
}

// orderedWriter is an Engine that does steps in one round trip.
type orderedWriter interface {
	inOrder(ctx context.Context, steps []Step) (done int, standing Record, err error)
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
	switch s.kind {
	case writeAlways:
		return false, Record{}, e.Put(ctx, s.key, s.value, s.life)
	case writeIfAbsent:
		standing, made, err := e.PutIfAbsent(ctx, s.key, s.value, s.life)
		return err == nil && !made, standing, err
	case writeIfVersion:
		standing, err := e.Swap(ctx, s.key, s.version, s.value, s.life)
		if errors.Is(err, ErrConflict) || errors.Is(err, ErrNotFound) {
			return true, standing, nil
		}
		return false, Record{}, err
	case stepKeep:
		return false, Record{}, e.KeepMembers(ctx, s.key, Member{Name: s.word, Left: s.life})
	case stepDelist:
		return false, Record{}, e.RemoveMember(ctx, s.key, s.word)
	case stepDelete:
		return false, Record{}, e.Delete(ctx, s.key)
	}
	return false, Record{}, e.Notify(ctx, s.key, s.word)
}
