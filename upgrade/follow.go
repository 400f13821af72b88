package upgrade

import (
	"context"

	"berth/routing"
)

// follow keeps to a task that the upstream made though it was not asked to.
func (h *Held) follow(ctx context.Context, u *routing.Upstream, r reply) error {
	return errGarbled
}
