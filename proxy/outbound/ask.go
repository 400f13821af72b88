package outbound

import (
	"context"
	"errors"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/routing"
)

// Ask sends a request of berth's own to u in the caller's name and era, and
// returns the HTTP status and the answer's message, which is -32601 also where u says so in plain words. taskID "" means none. The error is an
// *mcp.Error where u does not take the caller's credentials.
func (w Way) Ask(ctx context.Context, u *routing.Upstream, method, taskID string) (int, mcp.Answer, error) {
	out := w.Post(u, w.OwnBody(method, taskID))
	h := out.Header
	if w.Session != "" {
		// The question is about it, or about a task that lives in it.
		h.Set(mcp.HeaderSession, w.SessionAt(ctx, u))
	}
	w.MirrorCall(h, method, taskID)
	response, err := To(w.Endpoint).Send(ctx, u, out, Terms{})
	if err != nil {
		return 0, mcp.Answer{}, err
	}
	defer response.Body.Close()
	if refusal := CredentialsRefused(response); refusal != nil {
		return response.Status, mcp.Answer{}, refusal
	}
	a, err := OwnAnswer(response, mcp.ID(out.Body), w.Crossed(u))
	if LacksMethod(response, method) {
		a = mcp.Answer{IsError: true, ErrorCode: mcp.CodeMethodNotFound}
	}
	return response.Status, a, err
}

// AskTask asks u, with the caller's credentials, whether it knows a task.
func (w Way) AskTask(ctx context.Context, u *routing.Upstream, taskID string) routing.Verdict {
	status, a, err := w.Ask(ctx, u, mcp.MethodGetTask, taskID)
	switch {
	case err != nil:
		return unsaid(err)
	case status >= 500:
		return routing.Unclear
	case status == wire.StatusNotFound, a.ErrorCode == mcp.CodeInvalidParams, a.ErrorCode == mcp.CodeMethodNotFound:
		return routing.Denies
	case status == wire.StatusOK && a.HasResult && a.Task.ID == taskID:
		return routing.Knows
	}
	return routing.Unclear
}

// AskSession asks u whether it holds the caller's session.
func (w Way) AskSession(ctx context.Context, u *routing.Upstream) routing.Verdict {
	status, _, err := w.Ask(ctx, u, mcp.MethodPing, "")
	switch {
	case err != nil:
		return unsaid(err)
	case DeniesSession(status):
		return routing.Denies
	case status/100 == 2:
		return routing.Knows
	}
	return routing.Unclear
}

// unsaid is the verdict of an upstream that did not answer the question, by Ask's error.
func unsaid(err error) routing.Verdict {
	_, unanswered := errors.AsType[*exchange.SendError](err)
	if refusal, ok := errors.AsType[*mcp.Error](err); ok && !unanswered {
		return routing.Refuses(refusal)
	}
	return routing.Unclear
}

// Withdraw asks u to give up a task whose handle is withheld. It is a courtesy:
// nothing depends on it.
func (w Way) Withdraw(u *routing.Upstream, taskID string) {
	if taskID == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.HTTP.Context()), withdrawTime)
	defer cancel()
	if _, _, err := w.Ask(ctx, u, mcp.MethodCancelTask, taskID); err != nil {
		w.Log.Debug("a withheld task could not be cancelled", "upstream", u.Name, "error", err)
	}
}

// withdrawTime bounds how long a withheld answer waits for the task to be given up.
const withdrawTime = 2 * time.Second
