package redis

import (
	"context"
	"slices"
	"strings"
	"sync"

	"berth/internal/storage/engine"

	"github.com/redis/go-redis/v9"
)

// runID is what a server's INFO calls the name that it takes each time that it starts.
const runID = "run_id"

func (r *single) Processes(ctx context.Context) (name string, err error) {
	err = r.ask(ctx, engine.OpInfo, func(ctx context.Context) error {
		info, err := serverInfo(ctx, r.client, "server")
		name = info[runID]
		return err
	})
	return name, err
}

func (c *clusterEngine) Processes(ctx context.Context) (string, error) {
	var mu sync.Mutex // guards names
	var names []string
	err := c.ask(ctx, engine.OpInfo, func(ctx context.Context) error {
		return c.cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
			info, err := serverInfo(ctx, node, "server")
			mu.Lock()
			defer mu.Unlock()
			names = append(names, info[runID])
			return err
		})
	})
	if err != nil || slices.Contains(names, "") {
		return "", err
	}
	slices.Sort(names)
	return strings.Join(names, " "), nil
}
