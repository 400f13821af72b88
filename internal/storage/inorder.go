package storage

import (
	"context"

	"berth/internal/storage/engine"
)

// InOrder does steps one after the other, as far as the first one that another record stands in the way of, and returns
// how many it has done and what stands there; the zero Record: nothing does, or all are done. On one server it is one round
// trip, in which nobody else does anything; else, and if there is one step, each is an operation of its own. After an error some of the first may
// be done, and are counted as far as that is known.
func (s *Store) InOrder(ctx context.Context, steps ...Step) (done int, standing Record, err error) {
	if len(steps) == 0 {
		return 0, Record{}, nil
	}
	together, ok := s.engine.(engine.OrderedWriter)
	if _, several := s.engine.(engine.Parted); several || !ok || len(steps) == 1 {
		return OneByOne(ctx, s, steps)
	}
	err = s.do(ctx, engine.OpEach, "", func(ctx context.Context) (err error) {
		done, standing, err = together.InOrder(ctx, steps)
		return err
	})
	for i := range steps[:done] {
		if err == nil && steps[i].Writes() {
			s.wrote("")
			break
		}
	}
	return done, standing, err
}
