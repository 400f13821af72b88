package redis

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"berth/internal/storage/engine"

	"github.com/redis/go-redis/v9"
)

const (
	// inspectAttempts is how often a server is pinged: one lost packet is no finding.
	inspectAttempts = 3

	// inspectTimeout bounds each wait for a server: that it is slow for a moment is no finding either.
	inspectTimeout = 2 * time.Second
)

const inspectKey = "inspect"

type inspection struct {
	servers  *Servers
	engine   *single
	replicas int // that have to follow

	mu    sync.Mutex // guards found
	found []engine.Finding
}

// Inspect finds what would break the promises of a store on these servers. It writes nothing that stays.
func Inspect(ctx context.Context, t *Servers, opts Options) []engine.Finding {
	opts.Timeout = max(opts.Timeout, inspectTimeout)
	i := &inspection{servers: t, replicas: opts.Replicas}
	opts.Replicas = 0 // what is written here is waited for by nobody
	on, _, _ := New(i.answering(ctx, opts), opts)
	defer on.Close()
	cluster, several := on.(*clusterEngine)
	if several {
		i.engine = cluster.single
	} else {
		i.engine = on.(*single)
	}
	if err := pingAgain(ctx, on); err != nil {
		i.finds(false, "%v", err)
		return i.found
	}
	i.tryToWrite(ctx)
	if several {
		err := cluster.cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
			i.inspectServer(ctx, node, " "+node.Options().Addr)
			return nil
		})
		if err != nil {
			i.finds(false, "the masters cannot be found: %v", err)
		}
		return i.found
	}
	i.inspectServer(ctx, i.engine.client.(*redis.Client), "")
	return i.found
}

// finds notes a finding. The passwords are taken out of it.
func (i *inspection) finds(warning bool, format string, args ...any) {
	text := i.servers.scrub(fmt.Sprintf(format, args...))
	i.mu.Lock()
	defer i.mu.Unlock()
	i.found = append(i.found, engine.Finding{Text: i.servers.Name + ": " + text, Warning: warning})
}

func pingAgain(ctx context.Context, on engine.Engine) (err error) {
	for range inspectAttempts {
		if err = on.Ping(ctx); err == nil || ctx.Err() != nil {
			return err
		}
	}
	return err
}

func (i *inspection) tryToWrite(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, i.engine.bound)
	defer cancel()
	nothing := command{op: engine.WriteIfVersion, key: inspectKey, version: 1}
	if _, err := i.engine.execute(engine.Alone(ctx), engine.OpSwap, nothing, 0); err != nil {
		i.finds(false, "scripts, by which all is written, cannot be run: %v", err)
		return
	}
	if _, err := i.engine.Members(ctx, inspectKey); err != nil {
		i.finds(false, "lists cannot be read: %v", err)
	} else if err := i.makeAndRemove(ctx); err != nil && !isOfRole(err) {
		i.finds(false, "what is made with a place in a list cannot be written, or removed: %v", err)
	}
	i.tryNotices(ctx)
}

// isOfRole reports whether a write failed since the server is a replica: inspectServer finds that.
func isOfRole(err error) bool {
	fault, ok := errors.AsType[*engine.Fault](err)
	return ok && fault.Reason == engine.ReasonReadonly
}

// makeAndRemove does what the making of a binding or a task does, and undoes it.
func (i *inspection) makeAndRemove(ctx context.Context) error {
	const life = 10 * time.Second // if the removal fails
	ctx, cancel := context.WithTimeout(engine.Alone(context.WithoutCancel(ctx)), i.engine.bound)
	defer cancel()
	key, list := "{"+inspectKey+"}:"+rand.Text(), "{"+inspectKey+"}:list" // of one slot
	made := engine.Write{Key: key, Value: []byte("{}"), TTL: life, List: list, Member: engine.Member{Name: key, Left: life}}
	return errors.Join(i.engine.Each(ctx, []engine.Write{made}), i.engine.RemoveMember(ctx, list, key), i.engine.Delete(ctx, key))
}

func (i *inspection) tryNotices(ctx context.Context) {
	if err := i.engine.Notify(ctx, inspectKey, ""); err != nil {
		i.finds(false, "other processes cannot be notified: %v", err)
		return
	}
	ctx, hears := context.WithCancel(ctx)
	defer hears()
	l := i.engine.newListener(inspectKey, func(string) { hears() })
	if err := l.listen(ctx); !l.subscribed {
		i.finds(false, "notices of other processes cannot be heard: %v", err)
	}
}
