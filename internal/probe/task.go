package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"berth/internal/client"
	"berth/internal/mcp"
	"berth/internal/timed"
)

// task is a task that the run made.
type task struct {
	client.Task           // as last seen
	scope       scope     // in which it was made
	made        time.Time // when its call was sent, so not after the server made it
	alive       time.Time // when it was last seen not to have ended
	over        bool      // it has ended, or its cancelling was acknowledged
}

func (t *task) params() map[string]any { return map[string]any{"taskId": t.ID} }

// expired reports whether the server may have dropped the task by now.
func (t *task) expired() bool { return t.TTL > 0 && time.Since(t.made) >= t.TTL }

// inReach reports whether there is a way to ask for the task: a broken session is used
// no further, as clients do.
func (t *task) inReach() bool { return t.scope.session == nil || !t.scope.session.broken }

// see takes a newer state of the task.
func (t *task) see(now client.Task) {
	t.Task = now
	if now.Terminal() {
		t.over = true
		return
	}
	t.alive = time.Now()
}

// coreTTL is how long core tasks are asked to live: no task of a probe is to outlive
// it for long.
const coreTTL = time.Minute

// makeTasks calls the tool once in each scope, all of one revision, and returns the
// tasks that it made. It ends with the first call that makes none: its server must not
// be made to run a tool in vain.
func (r *run) makeTasks(ctx context.Context, scopes []scope) []*task {
	if len(scopes) == 0 {
		return nil
	}
	version := scopes[0].version
	tool := r.chooseTool(ctx, scopes[0])
	if tool == "" {
		r.blind = true
		return nil
	}
	r.tool = tool
	c := r.check(version, checkTasks)
	var tasks []*task
	for _, s := range scopes {
		t, goOn := r.makeTask(ctx, c, s)
		if t != nil {
			tasks = append(tasks, t)
		}
		if !goOn {
			break
		}
	}
	r.blind = r.blind || len(tasks) == 0
	return tasks
}

// makeTask calls the tool. It returns nil if that made no task, and whether another
// call may.
func (r *run) makeTask(ctx context.Context, c *Check, s scope) (made *task, goOn bool) {
	began := time.Now()
	answered := r.wire.request(ctx, s, mcp.MethodCallTool, r.toolParams(s.version))
	switch {
	case answered.unsent:
		return nil, false
	case answered.judge() == failed:
		r.book(c, answered)
		if !answered.throttles() {
			r.unknown++
		}
		return nil, !answered.timedOut()
	case answered.breaksSession():
		r.book(c, answered)
		s.session.broken = true
		return nil, true
	case answered.judge() == lost:
		c.Asked++
		r.skip(s.version, checkPolls, fmt.Sprintf("the tool %q refused the call (--args?): %s", r.tool, answered))
		return nil, false
	}
	c.Asked++
	task, ok := r.keep(answered.answer.Result, s, began)
	if !ok {
		r.skip(s.version, checkPolls, fmt.Sprintf("the tool %q answered without making a task; --tool names another", r.tool))
	}
	return task, ok
}

// keep notes the task that an answer made.
func (r *run) keep(result json.RawMessage, s scope, began time.Time) (*task, bool) {
	made, ok := client.ReadMade(s.version, result)
	if !ok {
		return nil, false
	}
	t := &task{scope: s, made: began}
	t.see(made)
	r.tasks = append(r.tasks, t)
	return t, true
}

func (r *run) toolParams(version string) map[string]any {
	params := map[string]any{"name": r.tool, "arguments": map[string]any{}}
	if r.options.Args != nil {
		params["arguments"] = r.options.Args
	}
	if version == client.Legacy {
		params["task"] = map[string]any{"ttl": coreTTL.Milliseconds()}
	}
	return params
}

// pollAll polls each task pollsPerTask times, whether it has ended or not: its state is
// to be had as long as it lives.
func (r *run) pollAll(ctx context.Context, tasks []*task) {
	c := r.check(tasks[0].scope.version, checkPolls)
	for range pollsPerTask {
		if r.wire.halt == nil {
			_ = timed.Sleep(ctx, pauseFor(tasks))
		}
		for _, t := range shuffled(tasks) {
			if t.inReach() {
				r.poll(ctx, c, t, t.scope)
			}
		}
	}
}

// poll asks for a task once, from where s says.
func (r *run) poll(ctx context.Context, c *Check, t *task, s scope) judgement {
	answered := r.wire.request(ctx, s, mcp.MethodGetTask, t.params())
	j := r.bookTask(c, t, answered)
	if j != held {
		return j
	}
	now, ok := client.ReadTask(answered.answer.Result)
	if !ok || now.ID != t.ID {
		r.lose(c, 1, "answered with something else than the task")
		return lost
	}
	t.see(now)
	return held
}

// bookTask books a reply about a task. What is denied after its time is not lost; what
// breaks its session is.
func (r *run) bookTask(c *Check, t *task, answered reply) judgement {
	if answered.judge() == lost && t.expired() {
		c.Asked++
		c.Expired++
		t.over = true
		return unsent
	}
	if answered.breaksSession() {
		t.scope.session.broken = true
	}
	return r.book(c, answered)
}

// results asks for the results of core tasks that have ended: of others the answer
// would come when they end.
func (r *run) results(ctx context.Context, tasks []*task) {
	c := r.check(tasks[0].scope.version, checkResults)
	for _, t := range shuffled(tasks) {
		if t.inReach() && t.Status == "completed" {
			r.bookTask(c, t, r.wire.request(ctx, t.scope, mcp.MethodTaskResult, t.params()))
		}
	}
}

// cancelAll cancels the tasks that are not known to have ended.
func (r *run) cancelAll(ctx context.Context, tasks []*task) {
	c := r.check(tasks[0].scope.version, checkCancels)
	for _, t := range shuffled(tasks) {
		if t.over || !t.inReach() {
			continue
		}
		answered := r.wire.request(ctx, t.scope, mcp.MethodCancelTask, t.params())
		switch {
		case answered.tooLate():
			c.Asked++
			t.over = true
		case r.bookTask(c, t, answered) == held:
			t.over = true
		}
	}
}

// secondAddress polls each task once at the other address.
func (r *run) secondAddress(ctx context.Context, tasks []*task) {
	if r.options.Second == "" {
		return
	}
	c := r.check(tasks[0].scope.version, checkSecond)
	for _, t := range tasks {
		if t.inReach() {
			s := t.scope
			s.second = true
			r.poll(ctx, c, t, s)
		}
	}
}
