package subscribe

import (
	"context"
	"errors"

	"berth/routing"
)

var (
	// errLeaves ends a stream at an upstream that drains: nothing there needs it.
	errLeaves = errors.New("proxy: the upstream drains")
	// errTasksOver is errLeaves of a leg that was for tasks alone, or for these first: there is nobody
	// to join again.
	errTasksOver = errors.New("proxy: the upstream drains, and the tasks have ended")
)

// whileItWorks returns a context that ends, with errLeaves, once u drains and may says
// that nothing there needs the stream. stop must be called.
func whileItWorks(ctx context.Context, u *routing.Upstream, may func() bool) (working context.Context, stop func()) {
	working, end := context.WithCancelCause(ctx)
	forget := u.OnDrain(func(routing.Drain) {
		if u.IsDraining() && may() {
			end(errLeaves)
		}
	})
	return working, func() {
		forget()
		end(nil)
	}
}

// left is what a stream failed with: err, unless it was to leave its upstream.
func left(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errLeaves) {
		return errLeaves
	}
	return err
}

// awaitWork waits until u does not drain, and returns it as pool has it by then.
func awaitWork(ctx context.Context, pool *routing.Pool, u *routing.Upstream) (*routing.Upstream, error) {
	for {
		_, replaced := pool.Watched()
		now := present(pool, u)
		if !now.IsDraining() {
			return now, nil
		}
		if err := awaitUse(ctx, now, replaced); err != nil {
			return nil, err
		}
	}
}

// awaitUse waits until u does not drain, or its pool has others.
func awaitUse(ctx context.Context, u *routing.Upstream, replaced <-chan struct{}) error {
	changed := make(chan struct{}, 1)
	defer u.OnDrain(func(routing.Drain) {
		select {
		case changed <- struct{}{}:
		default:
		}
	})()
	for u.IsDraining() {
		select {
		case <-changed:
		case <-replaced:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// mayLeave reports whether nothing at the upstream needs the leg: any other will do, or all tasks
// that it is for have ended.
func (g *leg) mayLeave() bool { return g.upstream == nil || g.ended.Load() }
