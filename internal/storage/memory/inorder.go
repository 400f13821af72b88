package memory

import (
	"context"

	"berth/internal/storage/engine"
)

func (m *Engine) InOrder(ctx context.Context, steps []engine.Step) (done int, standing engine.Record, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.moment()
	for i := range steps {
		if standing, stood := m.step(ctx, &steps[i], now); stood {
			return i, standing, nil
		}
	}
	return len(steps), engine.Record{}, nil
}

// step does one step, unless it reports that another record stands in its way, or none. The caller has the lock.
func (m *Engine) step(ctx context.Context, s *engine.Step, now moment) (standing engine.Record, stood bool) {
	switch s.Kind {
	case engine.StepKeep:
		m.collect(now)
		m.keep(s.Key, engine.Member{Name: s.Word, Left: s.Life}, now)
	case engine.StepDelist:
		m.delist(s.Key, s.Word)
	case engine.StepDelete:
		if e := m.find(s.Key, now); e != nil {
			m.remove(e)
		}
	case engine.StepNotify:
		_ = m.Notify(ctx, s.Key, s.Word) // it never fails
	default:
		return m.record(s, now)
	}
	return engine.Record{}, false
}

// record writes a record, unless it reports that another one stands in its way, or none. The caller has the lock.
func (m *Engine) record(s *engine.Step, now moment) (standing engine.Record, stood bool) {
	e := m.find(s.Key, now)
	switch {
	case s.Kind == engine.WriteIfAbsent && e != nil, s.Kind == engine.WriteIfVersion && e != nil && e.record.Version != s.Version:
		return e.record, true
	case s.Kind == engine.WriteIfVersion && e == nil:
		return engine.Record{}, true
	}
	m.write(s.Key, e, s.Value, now, s.Life)
	return engine.Record{}, false
}
