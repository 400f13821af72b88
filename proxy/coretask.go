package proxy

import (
	"errors"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/routing"
	"berth/upgrade"
)

// errHasEnded answers a tasks/cancel of a task that has ended with this status
// (2025-11-25, tasks, "Error Handling").
func errHasEnded(status string) error {
	return &mcp.Error{
		Status: wire.StatusOK, Code: mcp.CodeInvalidParams,
		Message: "Cannot cancel task: already in terminal status '" + status + "'",
	}
}

// serveCore answers a request about a task of berth's own making as 2025-11-25 has it.
// Whatever session it comes in, if there is such a one: a client that began a new one may
// ask for what it made in the one before.
func (x *request) serveCore() error {
	if err := x.checkServed(); err != nil {
		return err
	}
	if err := x.useSession(); err != nil {
		return err
	}
	c, tasks := x.Single(), x.p.options.Tasks
	switch c.Method {
	case mcp.MethodGetTask:
		view, err := tasks.Glance(x.ctx, c.TaskID, x.Asker())
		x.rec.Holder = view.Holder
		if err := x.caller().MayHear(x.ctx, view.Task, err); err != nil {
			return err
		}
		x.out.Respond(wire.StatusOK, mcp.Response(x.ID, view.Core().Task()))
		return nil
	case mcp.MethodTaskResult:
		return x.awaitResult()
	case mcp.MethodCancelTask:
		return x.cancelCore()
	}
	return fault.NotInCore
}

// cancelCore gives up a task that has not ended, and answers with the task.
func (x *request) cancelCore() error {
	task, err := x.cancelUpgraded()
	shown := upgrade.View{Task: task}.Core()
	switch {
	case errors.Is(err, upgrade.ErrTerminal):
		return errHasEnded(shown.Status)
	case err != nil:
		return err
	}
	x.out.Respond(wire.StatusOK, mcp.Response(x.ID, shown.Task()))
	return nil
}

// useSession keeps the session alive that the request comes in, and refuses one that
// nobody knows (2025-11-25, transports, "Session Management"). Nothing else hangs on it:
// while nobody can say, the task is answered for all the same.
func (x *request) useSession() error {
	if x.Session == "" {
		return nil
	}
	if err := x.Endpoint.Router.FindSession(x.ctx, x.query()); errors.Is(err, routing.ErrUnknownSession) {
		x.p.gate.NoteMiss(x.Caller, err)
		return err
	}
	return nil
}
