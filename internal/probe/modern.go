package probe

import (
	"context"
	"time"

	"berth/internal/client"
)

// modern makes the checks of the modern era, in which only tasks are kept from one
// request to the next.
func (r *run) modern(ctx context.Context, s speech) {
	if !s.tasks {
		r.skip(client.Modern, checkTasks, "the server does not declare the Tasks extension")
		return
	}
	scopes := make([]scope, r.options.Rounds)
	for i := range scopes {
		scopes[i].version = client.Modern
	}
	tasks := r.makeTasks(ctx, scopes)
	if len(tasks) == 0 {
		return
	}
	l := r.listen(ctx, tasks)
	defer l.close()
	r.pollAll(ctx, tasks)
	r.secondAddress(ctx, tasks)
	r.cancelAll(ctx, tasks)
	r.notified(ctx, l)
}

// pollPause is the longest pause between polls, whatever a server suggests.
const pollPause = 5 * time.Second

// pauseFor is how long to wait before the next polls of tasks.
func pauseFor(tasks []*task) time.Duration {
	var longest time.Duration
	for _, t := range tasks {
		longest = max(longest, t.PollEvery)
	}
	return min(longest, pollPause)
}
