package storage

import (
	"context"
	"sync"

	"berth/internal/storage/engine"
)

// Each does all of writes in one step: one round trip, or one sync. On one server, or in one process, they are seen
// together or not at all, by others and by who reads after a crash; on several each of them stands alone, as does each record
// beside its member, and takes one round trip at the same time as the others. After an error any of them may stand. Once Each has returned nobody else has
// writes.
func (s *Store) Each(ctx context.Context, writes []Write) error {
	together, ok := s.engine.(engine.EachWriter)
	if _, several := s.engine.(engine.Parted); several || !ok {
		return s.apart(ctx, writes)
	}
	err := s.do(ctx, engine.OpEach, "", func(ctx context.Context) error { return together.Each(ctx, writes) })
	for i := range writes {
		if err == nil && writes[i].Done {
			s.wrote("")
			break
		}
	}
	return err
}

// wrote has it be known that a server takes writes, where the operation alone does not tell.
func (s *Store) wrote(part string) { s.health.Writes.Note(engine.OpPut, part, nil) }

// apart does all of writes at the same time, through their servers' breakers.
func (s *Store) apart(ctx context.Context, writes []Write) error {
	errs := make([]error, len(writes))
	var writing sync.WaitGroup
	for i := range writes {
		w := &writes[i]
		if w.Listed = w.List != ""; w.Listed {
			writing.Go(func() { w.Listed = s.KeepMembers(ctx, w.List, w.Member) == nil })
		}
		writing.Go(func() { errs[i] = s.one(ctx, w) })
	}
	writing.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// one writes the record alone.
func (s *Store) one(ctx context.Context, w *Write) (err error) {
	if w.Over {
		err = s.Put(ctx, w.Key, w.Value, w.TTL)
		w.Done = err == nil
		return err
	}
	w.Standing, w.Done, err = s.PutIfAbsent(ctx, w.Key, w.Value, w.TTL)
	if w.Done {
		w.Standing = Record{}
	}
	return err
}
