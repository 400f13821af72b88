package storage

import (
	"context"

	"berth/internal/storage/file"
	"berth/internal/storage/redis"
)

// Inspect returns what would keep the store that url names from its promises, or could. It leaves
// nothing written, and makes no file. ctx bounds the questions to a server, not the reading of a file.
func Inspect(ctx context.Context, url string, opts Options) []Finding {
	t, err := parseURL(url)
	if err != nil {
		return []Finding{{Text: err.Error()}}
	}
	replicas, err := t.replicas(opts.Durability)
	if err != nil {
		return []Finding{{Text: err.Error()}}
	}
	opts = opts.withDefaults()
	switch {
	case t.redis != nil:
		return redis.Inspect(ctx, t.redis, opts.ofServers(replicas))
	case t.file != "":
		return file.Inspect(ctx, t.file, opts.ofFile())
	}
	return nil
}
