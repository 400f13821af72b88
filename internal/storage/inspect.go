package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Finding is something that a store would meet if it were to serve now.
type Finding struct {
	Text    string // says what, in one line and without secrets
	Warning bool   // the store would keep its promises all the same
}

// Inspect returns what would keep the store that url names from its promises, or could. It writes
// nothing, and makes no file. ctx bounds the questions to a server, not the reading of a file.
func Inspect(ctx context.Context, url string, opts Options) []Finding {
	t, err := parseURL(url)
	if err != nil {
		return []Finding{{Text: err.Error()}}
	}
	durability, err := t.durability(opts.Durability)
	if err != nil {
		return []Finding{{Text: err.Error()}}
	}
	opts = opts.withDefaults()
	opts.Timeout = max(opts.Timeout, inspectTimeout)
	switch {
	case t.redis != nil:
		return inspectRedis(ctx, t, opts, durability)
	case t.file != "":
		return inspectFile(ctx, t, opts)
	}
	return nil
}

// inspectFile locks the file while it is read: a berth that starts meanwhile waits for it.
func inspectFile(ctx context.Context, t target, opts Options) []Finding {
	o := &opening{ctx: ctx, path: t.file, log: opts.Logger}
	var f *os.File
	err := guarded(func() (err error) {
		f, err = o.open(t.file, os.O_RDWR, fileMode)
		return err
	})
	switch {
	case errors.Is(err, errHeld):
		return []Finding{{Text: t.name + ": another process holds this file, a berth that serves from it most likely: it was not looked into", Warning: true}}
	case errors.Is(err, fs.ErrNotExist):
		err = writable(filepath.Dir(t.file))
	case err == nil:
		err = f.Close()
	}
	if err != nil {
		return []Finding{{Text: fmt.Sprintf("%s: %v", t.name, err)}}
	}
	if o.stale {
		return []Finding{{Text: t.name + ": " + staleFile, Warning: true}}
	}
	return nil
}

const (
	// inspectAttempts is how often a server is pinged: one lost packet is no finding.
	inspectAttempts = 3

	// inspectTimeout bounds each wait for a server: that it is slow for a moment is no finding either.
	inspectTimeout = 2 * time.Second
)

const inspectKey = "inspect"

type redisInspection struct {
	engine *redisEngine
	named  *redis.UniversalOptions // bounded
	need   durability

	mu    sync.Mutex // guards found
	found []Finding
}

func inspectRedis(ctx context.Context, t target, opts Options, need durability) []Finding {
	engine, _, _ := newRedisEngine(t, opts, need)
	defer engine.Close()
	i := &redisInspection{named: boundedOptions(*t.redis, opts), need: need}
	cluster, several := engine.(*clusterEngine)
	if several {
		i.engine = cluster.redisEngine
	} else {
		i.engine = engine.(*redisEngine)
	}
	i.inspectNamed(ctx)
	if err := pingAgain(ctx, engine); err != nil {
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
func (i *redisInspection) finds(warning bool, format string, args ...any) {
	text := i.engine.target.scrub(fmt.Sprintf(format, args...))
	i.mu.Lock()
	defer i.mu.Unlock()
	i.found = append(i.found, Finding{Text: i.engine.target.name + ": " + text, Warning: warning})
}

func pingAgain(ctx context.Context, engine Engine) (err error) {
	for range inspectAttempts {
		if err = engine.Ping(ctx); err == nil || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// inspectNamed asks each sentinel and node that the URL names: those that are away are missed only
// when the others are.
func (i *redisInspection) inspectNamed(ctx context.Context) {
	if i.named.MasterName == "" && !i.named.IsClusterMode {
		return
	}
	answers := make([]error, len(i.named.Addrs))
	var asking sync.WaitGroup
	for at, address := range i.named.Addrs {
		asking.Go(func() { answers[at] = i.askNamed(ctx, address) })
	}
	asking.Wait()
	for at, err := range answers {
		switch address := i.named.Addrs[at]; {
		case errors.Is(err, redis.Nil):
			i.finds(true, "the sentinel %s knows no master %q", address, i.named.MasterName)
		case err != nil:
			i.finds(true, "%s does not answer: %v", address, err)
		}
	}
}

func (i *redisInspection) askNamed(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, i.engine.bound)
	defer cancel()
	options := *i.named
	options.Addrs = []string{address}
	if i.named.IsClusterMode {
		node := redis.NewClient(options.Simple())
		defer node.Close()
		return node.Ping(ctx).Err()
	}
	options.Username, options.Password, options.DB = options.SentinelUsername, options.SentinelPassword, 0
	sentinel := redis.NewSentinelClient(options.Simple())
	defer sentinel.Close()
	return sentinel.GetMasterAddrByName(ctx, i.named.MasterName).Err()
}

func (i *redisInspection) tryToWrite(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, i.engine.bound)
	defer cancel()
	nothing := command{op: writeIfVersion, key: i.engine.prefix + inspectKey, version: 1}
	if _, err := nothing.run(0, func(cmd redis.Cmder) error { return i.engine.client.Process(ctx, cmd) }); err != nil {
		i.finds(false, "scripts, by which all is written, cannot be run: %v", err)
		return
	}
	if _, err := i.engine.Members(ctx, inspectKey); err != nil {
		i.finds(false, "lists cannot be read: %v", err)
	}
	i.tryNotices(ctx)
}

func (i *redisInspection) tryNotices(ctx context.Context) {
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

// inspectServer asks one server, which which names among others, what it is and does.
func (i *redisInspection) inspectServer(ctx context.Context, server *redis.Client, which string) {
	ctx, cancel := context.WithTimeout(ctx, i.engine.bound)
	defer cancel()
	memory, err := serverInfo(ctx, server, "memory")
	switch policy, told := memory["maxmemory_policy"]; {
	case err != nil || !told:
		i.finds(true, "the server%s does not tell its maxmemory-policy, which must be %s", which, keepsAll)
	case policy != keepsAll:
		i.finds(false, "the server%s drops bindings when its memory is full: maxmemory-policy is %s, must be %s", which, policy, keepsAll)
	}
	replication, err := serverInfo(ctx, server, "replication")
	switch role := replication["role"]; {
	case role == "slave":
		i.finds(false, "the server%s is a replica, which takes no writes", which)
	case i.need.replicas == 0:
	case err != nil || role == "":
		i.finds(true, "the server%s does not tell how many replicas follow it, of which %d must", which, i.need.replicas)
	case following(replication) < i.need.replicas:
		i.finds(false, "the server%s is followed by %d replicas, and no write counts before %d have it", which, following(replication), i.need.replicas)
	}
}

func following(replication map[string]string) (count int) {
	for field, value := range replication {
		if strings.HasPrefix(field, "slave") && strings.Contains(value, "state=online") {
			count++
		}
	}
	return count
}

func serverInfo(ctx context.Context, server redis.UniversalClient, section string) (map[string]string, error) {
	text, err := server.Info(ctx, section).Result()
	fields := make(map[string]string)
	for line := range strings.Lines(text) {
		if field, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[field] = value
		}
	}
	return fields, err
}
