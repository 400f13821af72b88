package memory

import (
	"bytes"
	"context"

	"berth/internal/storage/engine"
)

func (m *Engine) Each(_ context.Context, writes []engine.Write) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.moment()
	for i := range writes {
		w := &writes[i]
		standing := m.find(w.Key, now)
		if w.Done = w.Over || standing == nil; !w.Done {
			w.Standing = standing.record
			continue
		}
		m.write(w.Key, standing, bytes.Clone(w.Value), now, w.TTL)
		if w.Listed = w.List != ""; w.Listed {
			m.keep(w.List, w.Member, now)
		}
	}
	return nil
}
