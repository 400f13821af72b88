package redis

import (
	"context"
	"errors"

	"berth/internal/storage/engine"
)

// errNoPolicy says that the server told of no policy: it may be of another make.
var errNoPolicy = errors.New("storage: no maxmemory_policy in the server's INFO")

// Policy asks by INFO, which is allowed where CONFIG is not.
func (r *single) Policy(ctx context.Context) (policy string, err error) {
	told := false
	err = r.ask(ctx, engine.OpInfo, func(ctx context.Context) error {
		memory, err := serverInfo(ctx, r.client, "memory")
		policy, told = memory["maxmemory_policy"]
		return err
	})
	if err == nil && !told {
		err = errNoPolicy
	}
	return policy, err
}
