package access

import (
	"context"
	"errors"
	"slices"

	"berth/proxy/outbound"
	"berth/upgrade"
)

// Caller is who asks for tasks, for as long as its request or stream lasts. It does not change,
// so that it may be asked for in any goroutine.
type Caller struct {
	way         outbound.Way
	checker     *Checker
	credentials upgrade.Credentials // of one without a principal
}

// Caller returns the caller that way goes to upstreams for.
func (k *Checker) Caller(way outbound.Way) Caller {
	caller := Caller{way: way, checker: k}
	if way.Principal == "" {
		caller.credentials = way.Digests()
	}
	return caller
}

// Asker says who asks for tasks, and where.
func (c Caller) Asker() upgrade.Asker { return c.way.Asker() }

// Credentials names what the caller authenticates with, "" where a principal says who it is, or
// nothing does.
func (c Caller) Credentials() string { return c.credentials.All }

// MayAsk refuses a caller who must not be told anything of a task of berth's own making. Of a
// task that was not found, the zero Task, nobody is the creator, so that the answer does not
// tell whether there is one.
func (c Caller) MayAsk(ctx context.Context, task upgrade.Task) error {
	if c.IsCreator(task) {
		return nil
	}
	if err := c.check(ctx); err != nil {
		return err
	}
	if task.ID != "" && !c.checker.ids.MayBeCreators(&task, c.credentials) {
		return upgrade.ErrUnknown
	}
	return nil
}

// IsCreator reports whether it is known without asking upstreams that the caller may be told of a task
// which was found for it.
func (c Caller) IsCreator(task upgrade.Task) bool { return c.way.Principal != "" || c.made(task) }

// MayHear returns what the caller is told in place of what was found, nil if nothing speaks
// against that. Who may not ask does not learn that there is no task, either.
func (c Caller) MayHear(ctx context.Context, task upgrade.Task, err error) error {
	if err == nil || errors.Is(err, upgrade.ErrUnknown) || errors.Is(err, upgrade.ErrTooMuchLent) {
		if refusal := c.MayAsk(ctx, task); refusal != nil {
			return refusal
		}
	}
	return err
}

// MayAskForOne reports whether the caller may ask for one of the tasks. Upstreams have their
// word only if it made none.
func (c Caller) MayAskForOne(ctx context.Context, tasks []upgrade.Task) bool {
	return slices.ContainsFunc(tasks, c.made) ||
		slices.ContainsFunc(tasks, func(task upgrade.Task) bool { return c.MayAsk(ctx, task) == nil })
}

// made reports whether the caller made the task, or anybody may have.
func (c Caller) made(task upgrade.Task) bool {
	return task.ID != "" && (task.Anybodys() || c.checker.ids.MadeWith(&task, c.credentials))
}
