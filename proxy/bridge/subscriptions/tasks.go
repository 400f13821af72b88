package subscriptions

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"berth/internal/mcp"
	"berth/internal/mcp/taskwire"
	"berth/internal/wire"
)

// How far apart a task is looked at for those who listen for it: as its server wishes, within these.
// What the server tells on the session's own stream brings the next look forward.
const (
	watchLeast = 500 * time.Millisecond
	watchMost  = 10 * time.Second
)

// tasksAmong returns those of the ids that are of tasks of the client's, at this upstream.
func (li *listener) tasksAmong(ctx context.Context, ids []string) (known []string) {
	for _, id := range ids {
		if t, err := li.of.Server.Open(ctx, li.of.Who, id); err == nil {
			t.Close()
			known = append(known, id)
		}
	}
	return known
}

// watch tells the client of its tasks (Tasks extension, "Task Status Notifications") until all have
// ended, or ctx has.
func (li *listener) watch(ctx context.Context, ids []string) {
	told := map[string][sha256.Size]byte{}
	for len(ids) > 0 && ctx.Err() == nil {
		pause := watchMost
		var live []string
		for _, id := range ids {
			v, err := li.look(ctx, id)
			switch {
			case errors.Is(err, mcp.ErrUnknownTask):
				continue
			case refusesCredentials(err):
				li.Lose() // its client opens it anew, with others
				return
			case err == nil:
				message := v.Notification(li.of.ID).Bytes()
				if sum := sha256.Sum256(message); sum != told[id] {
					told[id] = sum
					li.mu.Lock()
					li.put(message)
					li.mu.Unlock()
				}
				pause = min(pause, max(v.PollInterval, watchLeast))
			}
			if err != nil || !v.Terminal() {
				live = append(live, id)
			}
		}
		ids = live
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-li.lost:
			ids = nil
		case <-li.moves:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// refusesCredentials reports whether the server does not take what the subscription was opened with.
func refusesCredentials(err error) bool {
	refusal, ok := errors.AsType[*mcp.Error](err)
	return ok && wire.RefusesCredentials(refusal.Status)
}

// look looks at a task as tasks/get does.
func (li *listener) look(ctx context.Context, id string) (taskwire.View, error) {
	t, err := li.of.Server.Open(ctx, li.of.Who, id)
	if err != nil {
		return taskwire.View{}, err
	}
	defer t.Close()
	return t.Look(ctx)
}
