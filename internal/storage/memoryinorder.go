package storage

import "context"

func (m *memoryEngine) inOrder(ctx context.Context, steps []Step) (done int, standing Record, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.moment()
	for i := range steps {
		if standing, stood := m.step(ctx, &steps[i], now); stood {
			return i, standing, nil
		}
	}
	return len(steps), Record{}, nil
}

// step does one step, unless it reports that another record stands in its way, or none. The caller has the lock.
func (m *memoryEngine) step(ctx context.Context, s *Step, now moment) (standing Record, stood bool) {
	switch s.kind {
	case stepKeep:
		m.collect(now)
		m.keep(s.key, Member{Name: s.word, Left: s.life}, now)
	case stepDelist:
		m.delist(s.key, s.word)
	case stepDelete:
		if e := m.find(s.key, now); e != nil {
			m.remove(e)
		}
	case stepNotify:
		_ = m.Notify(ctx, s.key, s.word) // it never fails
	default:
		return m.record(s, now)
	}
	return Record{}, false
}

// record writes a record, unless it reports that another one stands in its way, or none. The caller has the lock.
func (m *memoryEngine) record(s *Step, now moment) (standing Record, stood bool) {
	e := m.find(s.key, now)
	switch {
	case s.kind == writeIfAbsent && e != nil, s.kind == writeIfVersion && e != nil && e.record.Version != s.version:
		return e.record, true
	case s.kind == writeIfVersion && e == nil:
		return Record{}, true
	}
	m.write(s.key, e, s.value, now, s.life)
	return Record{}, false
}
