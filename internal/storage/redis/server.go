package redis

import (
	"context"
	"slices"
	"strings"
	"sync"

	"berth/internal/storage/engine"

	"github.com/redis/go-redis/v9"
)

// What a server's INFO calls the name that it takes each time that it starts, and the one of what it has written: it takes another
// each time that it is made a master, and holds since then what another one held.
const (
	runID     = "run_id"
	historyID = "master_replid"
)

func (r *single) Processes(ctx context.Context) (name string, err error) {
	err = r.ask(ctx, engine.OpInfo, func(ctx context.Context) error {
		name, err = process(ctx, r.client)
		return err
	})
	return name, err
}

func (c *clusterEngine) Processes(ctx context.Context) (string, error) {
	var mu sync.Mutex // guards names
	var names []string
	err := c.ask(ctx, engine.OpInfo, func(ctx context.Context) error {
		return c.cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
			name, err := process(ctx, node)
			mu.Lock()
			defer mu.Unlock()
			names = append(names, name)
			return err
		})
	})
	if err != nil || slices.Contains(names, "") {
		return "", err
	}
	slices.Sort(names)
	return strings.Join(names, " "), nil
}

// process names a server's process, and what it has written; "": it does not tell.
func process(ctx context.Context, server redis.UniversalClient) (string, error) {
	info, err := serverInfo(ctx, server, "server")
	if err != nil || info[runID] == "" {
		return "", err
	}
	written, err := serverInfo(ctx, server, "replication")
	return info[runID] + "/" + written[historyID], err
}
