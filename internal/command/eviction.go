package command

import (
	"context"
	"log/slog"
	"time"

	"berth/internal/storage"
)

// evictionEvery is how often it is looked whether the store drops keys. It asks the
// server less often itself.
const evictionEvery = time.Second

// warnOfEviction says, until ctx ends, when calls are not upgraded because the store
// drops keys, and when they are again. A binding that is dropped can be asked for in the
// fleet; a task cannot, and its tool would have run in vain.
func warnOfEviction(ctx context.Context, log *slog.Logger, health func() storage.Health) error {
	for told := ""; ; {
		switch policy := health().Evicts; {
		case policy == told:
		case policy == "":
			log.Info("calls are upgraded again: the store keeps all tasks")
			told = ""
		default:
			log.Warn("calls are not upgraded: the store drops tasks when its memory is full", "maxmemory-policy", policy)
			told = policy
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(evictionEvery):
		}
	}
}
