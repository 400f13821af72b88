package probe

import (
	"context"
	"fmt"
	"slices"
	"time"

	"berth/internal/client"
	"berth/internal/mcp"
)

const (
	ackWithin  = 5 * time.Second // from a stream's head to its acknowledgement
	toldWithin = 5 * time.Second // from the end of a task to its notification
)

// listen opens a few streams about some of the tasks, one after the other since each may
// come to another instance, counts the tasks that they acknowledge, and leaves the last
// one open. It returns nil where nothing can be heard.
func (r *run) listen(ctx context.Context, tasks []*task) *listener {
	about := working(tasks)
	if len(about) == 0 {
		r.skip(client.Modern, checkListened, "all tasks had ended at once")
		return nil
	}
	var last *listener
	agreed := make([]int, 0, listenStreams)
	for range listenStreams {
		last.close()
		if last = r.listenOnce(ctx, about); last == nil {
			break
		}
		agreed = append(agreed, len(last.agreed))
	}
	if len(agreed) > 0 && slices.Max(agreed) == 0 {
		r.skip(client.Modern, checkListened, "no stream acknowledged any task: the server seems to notify of none")
		return last
	}
	for _, n := range agreed {
		r.countListened(len(about), n)
	}
	return last
}

// listenOnce opens one stream and waits until it is acknowledged. What keeps it from
// that is noted.
func (r *run) listenOnce(ctx context.Context, about []*task) *listener {
	l, answered := r.subscribe(ctx, about)
	switch {
	case answered.noMethod():
		r.skip(client.Modern, checkListened, "the server has no subscriptions/listen")
	case answered.timedOut():
		r.unheard(ctx, about)
	case l == nil:
		r.book(r.check(client.Modern, checkListened), answered)
	case !l.awaitAck(ctx):
		l.close()
		r.unheard(ctx, about)
	default:
		return l
	}
	return nil
}

// working are the first tasks that have not ended, as many as a stream may be about.
func working(tasks []*task) []*task {
	var some []*task
	for _, t := range shuffled(tasks) {
		if !t.over && len(some) < streams {
			some = append(some, t)
		}
	}
	return some
}

// subscribe opens one stream. Without one the reply says why.
func (r *run) subscribe(ctx context.Context, about []*task) (*listener, reply) {
	ids := make([]string, len(about))
	for i, t := range about {
		ids[i] = t.ID
	}
	stream, stop, answered := r.wire.open(ctx, about[0].scope, mcp.MethodListen, map[string]any{
		"notifications": map[string]any{"taskIds": ids},
	})
	if stream == nil {
		return nil, answered
	}
	return newListener(stream, about, stop), answered
}

// unheard counts a stream that said nothing, though its server must acknowledge it at
// once. Proxies that buffer answers hold such streams back, head and all.
func (r *run) unheard(ctx context.Context, about []*task) {
	if ctx.Err() != nil {
		return
	}
	c := r.check(client.Modern, checkListened)
	c.Asked += len(about)
	r.lose(c, len(about), "no acknowledgement in time: does something on the way hold streams back?")
}

func (l *ledger) countListened(asked, agreed int) {
	c := l.check(client.Modern, checkListened)
	c.Asked += asked
	l.lose(c, asked-agreed, fmt.Sprintf("%d of %d tasks acknowledged", agreed, asked))
}

// notified counts the tasks that ended while l listened to them, and those of them
// whose end it was told of. A poll must have seen them alive after the stream began.
// Whether they ended is looked up; that look is not counted as a poll, for servers may
// drop a cancelled task.
func (r *run) notified(ctx context.Context, l *listener) {
	if l == nil {
		return
	}
	ended := map[string]bool{}
	for _, t := range l.about {
		if !l.agreed[t.ID] || !t.alive.After(l.since) {
			continue
		}
		answered := r.wire.request(ctx, t.scope, mcp.MethodGetTask, t.params())
		if answered.judge() != held {
			continue
		}
		if now, ok := client.ReadTask(answered.answer.Result); ok && now.ID == t.ID && now.Terminal() {
			ended[t.ID] = true
		}
	}
	all := len(ended)
	missing := l.awaitEnds(ctx, ended)
	if all == 0 || ctx.Err() != nil {
		return
	}
	c := r.check(client.Modern, checkNotified)
	c.Asked += all
	r.lose(c, len(missing), "a task ended, and its listener was not told")
}
