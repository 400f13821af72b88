package coretasks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"berth/internal/exchange"
	"berth/internal/jsonobject"
	"berth/internal/mcp"
	"berth/internal/mcp/eras"
	"berth/internal/mcp/inquiry"
	"berth/internal/mcp/taskwire"
	"berth/internal/wire"
	"berth/proxy/bridge/sessions"
	"berth/proxy/fault"
	"berth/proxy/outbound"
	"berth/proxy/session"
)

// Task is one that the server made (2025-11-25, tasks), as a request of the Tasks extension is
// about it.
type Task struct {
	of   *Server
	who  *sessions.Borrower
	l    *sessions.Session // in which it was made
	id   string            // as the client knows it
	core string            // as the server does

	declares inquiry.Declared // what the client of the session lets the server ask
	until    time.Time        // when the id expires

	withdrawn []string // ids of questions that the server wants no answer to any more, as mcp.IDKey spells them
}

// Answer answers tasks/get, tasks/update and tasks/cancel of the caller's; id is the request's, raw JSON.
func (t *Task) Answer(ctx context.Context, method string, id []byte) (*wire.Response, error) {
	var err error
	switch method {
	case mcp.MethodUpdateTask:
		err = t.update(ctx)
	case mcp.MethodCancelTask:
		err = t.cancel(ctx)
	default:
		v, err := t.Look(ctx)
		if err != nil {
			return nil, err
		}
		return wire.Whole(wire.StatusOK, v.Response(id).Bytes()), nil
	}
	if err != nil {
		return nil, err
	}
	return wire.Whole(wire.StatusOK, mcp.EmptyResponse(id)), nil
}

// Close gives the session back that the task is in.
func (t *Task) Close() { t.l.GiveBack(false) }

// Look returns the task as the extension shows it: with what it asks, or has come to.
func (t *Task) Look(ctx context.Context) (taskwire.View, error) {
	v, err := t.read(ctx)
	if err != nil {
		return v, err
	}
	switch {
	case v.Status == "working":
		t.showHeard(ctx, &v)
	case v.Status == "input_required":
		err = t.show(ctx, &v)
	case v.Result == nil && v.Error == nil && v.Status != "cancelled":
		err = t.fetch(ctx, &v)
	}
	if err == nil && v.Terminal() {
		t.l.TellTask(t.core)
		v = t.keep(ctx, &v)
	}
	v.ID, v.TTL = t.id, lifeOf(&v)
	return v, err
}

// read asks the server how the task is. Of one that it knows no more, the end is as a client was told it.
func (t *Task) read(ctx context.Context) (taskwire.View, error) {
	result, err := t.ask(ctx, mcp.MethodGetTask)
	if errors.Is(err, mcp.ErrUnknownTask) {
		return t.recall(ctx)
	}
	if err != nil {
		return taskwire.View{}, err
	}
	v, err := taskwire.ReadCore(result)
	if err != nil || v.ID != t.core {
		return v, fault.BadUpstream
	}
	v.Begin(t.until.Add(-lifeOf(&v)))
	return v, nil
}

// fetch puts what the call has come to into the view. A result is the tool's, be it that of a
// failure; only an error is one of the call ("Task Execution Errors").
func (t *Task) fetch(ctx context.Context, v *taskwire.View) error {
	message, err := t.request(ctx, mcp.MethodTaskResult)
	if err != nil {
		return err
	}
	if result := mcp.ResultObject(message); result != nil {
		v.Status, v.Result = "completed", taskwire.WithoutRelated(result)
		return nil
	}
	if v.Error = eras.ModernError(mcp.ErrorObject(message)); v.Error == nil {
		return fault.BadUpstream
	}
	v.Status = "failed"
	if v.Message == "" { // the client is to have a diagnosis (Tasks extension, "Task Execution Errors")
		text, _ := jsonobject.Text(jsonobject.At(v.Error, "message"))
		v.Message = mcp.StatusLine(text)
	}
	return nil
}

// cancel has the server give the task up. What it does not give up is acknowledged like what it
// does, be it that it has no tasks/cancel: the task's state tells ("Task Cancellation").
func (t *Task) cancel(ctx context.Context) error {
	if t.of.Support.LacksCancel() {
		_, err := t.read(ctx)
		return err
	}
	_, err := t.ask(ctx, mcp.MethodCancelTask)
	if _, refused := errors.AsType[*mcp.Error](err); refused {
		_, err = t.read(ctx)
	}
	return err
}

// ask sends a request about the task, and returns its result. It fails with an *mcp.Error where
// the answer is one.
func (t *Task) ask(ctx context.Context, method string) (result []byte, err error) {
	message, err := t.request(ctx, method)
	if err != nil {
		return nil, err
	}
	if result := mcp.ResultObject(message); result != nil {
		return result, nil
	}
	switch a, err := mcp.PeekAnswer(message, false); {
	case err != nil || !a.IsError:
		return nil, fault.BadUpstream
	case a.ErrorCode == mcp.CodeInvalidParams:
		return nil, mcp.ErrUnknownTask
	default:
		return nil, &mcp.Error{Status: wire.StatusOK, Code: a.ErrorCode, Message: "the server could not tell of the task"}
	}
}

// request sends a request about the task. One whose session is gone is gone with it. What reads, and is answered by a status of 5xx as while a server is
// replaced, has no answer: it may be asked for again.
func (t *Task) request(ctx context.Context, method string) (message []byte, err error) {
	message, err = t.l.Call(ctx, t.who.Out, method, map[string]any{"taskId": t.core})
	answer, refused := errors.AsType[*session.Refusal](err)
	switch {
	case !refused:
		return message, unanswered(err)
	case outbound.DeniesSession(answer.Status) && (t.l.ID == "" || t.l.IsDenied(ctx, t.who.Out)):
		t.l.ForgetTask(t.core)
		return nil, mcp.ErrUnknownTask
	case wire.RefusesCredentials(answer.Status):
		return nil, answer.OfCredentials()
	case answer.Status == wire.StatusTooManyRequests, answer.Status == wire.StatusServiceUnavailable:
		return nil, fault.Unavailable(mcp.ReasonOverloaded, "the server does not answer now")
	case method != mcp.MethodCancelTask && outbound.MayPass(answer.Status):
		return nil, &exchange.SendError{Err: fmt.Errorf("HTTP %d", answer.Status), Sent: true}
	}
	return nil, fault.BadUpstream
}

// unanswered is err as one of a request that has no answer, where that broke off.
func unanswered(err error) error {
	_, worded := errors.AsType[*mcp.Error](err)
	_, unsaid := errors.AsType[*exchange.SendError](err)
	if err == nil || worded || unsaid {
		return err
	}
	return &exchange.SendError{Err: err, Sent: true, TimedOut: exchange.IsTimeout(err)}
}
