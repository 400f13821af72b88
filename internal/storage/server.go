package storage

import (
	"context"

	"berth/internal/storage/engine"
)

// Server names the processes that hold the records; "" if they do not tell, or if this is the one. As long as it is the same, the
// store has lost nothing but what was flushed or evicted. Who asks need not be told while the store is away.
func (s *Store) Server(ctx context.Context) (string, error) {
	server, ok := s.engine.(engine.Server)
	if !ok {
		return "", nil
	}
	return server.Processes(ctx)
}
