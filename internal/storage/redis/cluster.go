package redis

import (
	"context"
	"errors"
	"strings"
	"sync"

	"berth/internal/storage/engine"

	"github.com/redis/go-redis/v9"
)

// errClusterState means that nodes are there and would answer CLUSTERDOWN.
var errClusterState = errors.New("the cluster is down: cluster_state is not ok")

// clusterEngine is the Engine on a Redis Cluster, where every operation touches one key and goes to
// its master.
type clusterEngine struct {
	*single
	cluster *redis.ClusterClient
}

func newClusterEngine(r *single, o *redis.UniversalOptions, wait waiter) *clusterEngine {
	options := o.Cluster()
	// The key alone decides where a command goes, without a question for the list of commands.
	options.DisableRoutingPolicies = true
	cluster := redis.NewClusterClient(options)
	cluster.OnNewNode(wait.follow)
	cluster.OnNewNode(func(node *redis.Client) { node.AddHook(greeting{}) })
	r.client = cluster
	// The driver keeps its map for a minute unless a server contradicts it. A dead one does not.
	r.relocate = func() { cluster.ReloadState(context.Background()) }
	return &clusterEngine{single: r, cluster: cluster}
}

// Part asks nobody: it reads the driver's map, which a context that has ended keeps from loading.
func (c *clusterEngine) Part(key string) string {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	node, err := c.cluster.MasterForKey(ended, c.prefix+key)
	if err != nil {
		return ""
	}
	return node.Options().Addr
}

func (c *clusterEngine) Parts(ctx context.Context) (map[string]func(context.Context) error, error) {
	var mu sync.Mutex // guards pings
	pings := make(map[string]func(context.Context) error)
	err := c.ask(ctx, engine.OpPing, func(ctx context.Context) error {
		err := c.cluster.ForEachMaster(ctx, func(_ context.Context, node *redis.Client) error {
			mu.Lock()
			defer mu.Unlock()
			pings[node.Options().Addr] = func(ctx context.Context) error { return c.ping(ctx, node) }
			return nil
		})
		if err == nil && len(pings) == 0 {
			err = errClusterState // nobody holds any slot
		}
		return err
	})
	return pings, outage(err)
}

// ping asks a master for the cluster's state: it answers PING even while it refuses every key.
func (c *clusterEngine) ping(ctx context.Context, node *redis.Client) error {
	return outage(c.ask(ctx, engine.OpPing, func(ctx context.Context) error {
		info, err := node.ClusterInfo(ctx).Result()
		if err == nil && !strings.Contains(info, "cluster_state:ok") {
			err = errClusterState
		}
		return err
	}))
}

// Ping implements Engine: it fails if any master does.
func (c *clusterEngine) Ping(ctx context.Context) error {
	pings, err := c.Parts(ctx)
	if err != nil {
		return err
	}
	failed := make([]error, 0, len(pings))
	for _, ping := range pings {
		failed = append(failed, ping(ctx))
	}
	return errors.Join(failed...)
}
