package redis

import (
	"context"
	"errors"
	"strings"
	"sync"

	"berth/internal/storage/engine"

	"github.com/redis/go-redis/v9"
)

// answering asks each sentinel and node that the URL names, and returns those that do what they are asked, by which the others are
// found: one that is away is no more than missed, and takes none of the time that is left. Where none does, all are as named.
func (i *inspection) answering(ctx context.Context, opts Options) *Servers {
	named := boundedOptions(*i.servers.options, opts)
	if named.MasterName == "" && !named.IsClusterMode {
		return i.servers
	}
	answers := make([]error, len(named.Addrs))
	var asking sync.WaitGroup
	for at, address := range named.Addrs {
		asking.Go(func() { answers[at] = askNamed(ctx, named, address) })
	}
	asking.Wait()
	found := *i.servers.options
	found.Addrs = nil
	for at, err := range answers {
		switch address := named.Addrs[at]; {
		case errors.Is(err, redis.Nil):
			i.finds(true, "the sentinel %s knows no master %q", address, named.MasterName)
		case err != nil:
			i.finds(true, "%s does not answer: %v", address, err)
		default:
			found.Addrs = append(found.Addrs, address)
		}
	}
	if len(found.Addrs) == 0 {
		return i.servers
	}
	return &Servers{Name: i.servers.Name, options: &found, secrets: i.servers.secrets}
}

func askNamed(ctx context.Context, named *redis.UniversalOptions, address string) error {
	ctx, cancel := context.WithTimeout(ctx, inspectTimeout)
	defer cancel()
	options := *named
	options.Addrs = []string{address}
	if named.IsClusterMode {
		node := redis.NewClient(options.Simple())
		defer node.Close()
		node.AddHook(greeting{})
		return node.Ping(ctx).Err()
	}
	options.Username, options.Password, options.DB = options.SentinelUsername, options.SentinelPassword, 0
	sentinel := redis.NewSentinelClient(options.Simple())
	defer sentinel.Close()
	return sentinel.GetMasterAddrByName(ctx, named.MasterName).Err()
}

// inspectServer asks one server, which which names among others, what it is and does.
func (i *inspection) inspectServer(ctx context.Context, server *redis.Client, which string) {
	ctx, cancel := context.WithTimeout(ctx, i.engine.bound)
	defer cancel()
	memory, err := serverInfo(ctx, server, "memory")
	switch policy, told := memory["maxmemory_policy"]; {
	case err != nil || !told:
		i.finds(true, "the server%s does not tell its maxmemory-policy, which must be %s", which, engine.KeepsAll)
	case policy != engine.KeepsAll:
		i.finds(false, "the server%s drops bindings when its memory is full: maxmemory-policy is %s, must be %s", which, policy, engine.KeepsAll)
	}
	replication, err := serverInfo(ctx, server, "replication")
	switch role := replication["role"]; {
	case role == "slave":
		i.finds(false, "the server%s is a replica, which takes no writes", which)
	case i.replicas == 0:
	case err != nil || role == "":
		i.finds(true, "the server%s does not tell how many replicas follow it, of which %d must", which, i.replicas)
	case following(replication) < i.replicas:
		i.finds(false, "the server%s is followed by %d replicas, and no write counts before %d have it", which, following(replication), i.replicas)
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
