package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/outbound"
	"berth/routing"
)

// askTask asks u, with the caller's credentials, whether it knows a task.
func (x *request) askTask(ctx context.Context, u *routing.Upstream, taskID string) routing.Verdict {
	status, a, err := x.sendOwn(ctx, u, mcp.MethodGetTask, taskID)
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

// askSession asks u whether it holds the caller's session.
func (x *request) askSession(ctx context.Context, u *routing.Upstream) routing.Verdict {
	status, _, err := x.sendOwn(ctx, u, mcp.MethodPing, "")
	switch {
	case err != nil:
		return unsaid(err)
	case outbound.DeniesSession(status):
		return routing.Denies
	case status/100 == 2:
		return routing.Knows
	}
	return routing.Unclear
}

// unsaid is the verdict of an upstream that did not answer the question, by sendOwn's error.
func unsaid(err error) routing.Verdict {
	if refusal, ok := errors.AsType[*mcp.Error](err); ok {
		return routing.Refuses(refusal)
	}
	return routing.Unclear
}

// withdrawTime bounds how long a withheld answer waits for the task to be given up.
const withdrawTime = 2 * time.Second

// withdraw asks u to give up a task whose handle is withheld. It is a courtesy:
// nothing depends on it.
func (x *request) withdraw(u *routing.Upstream, taskID string) {
	if taskID == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(x.HTTP.Context()), withdrawTime)
	defer cancel()
	if _, _, err := x.sendOwn(ctx, u, mcp.MethodCancelTask, taskID); err != nil {
		x.p.log.Debug("a withheld task could not be cancelled", "upstream", u.Name, "error", err)
	}
}

// sendOwn sends a request of berth's own to u in the caller's name and era, and
// returns the HTTP status and the answer's message. taskID "" means none. The error is an
// *mcp.Error where u does not take the caller's credentials.
func (x *request) sendOwn(ctx context.Context, u *routing.Upstream, method, taskID string) (int, mcp.Answer, error) {
	out := x.ownPost(u, x.ownBody(method, taskID))
	h := out.Header
	if x.Session != "" {
		// The question is about it, or about a task that lives in it.
		h.Set(mcp.HeaderSession, x.sessionAt(ctx, u))
	}
	if x.Era() == mcp.EraModern {
		h.Set(mcp.HeaderVersion, x.Version())
		h.Set(mcp.HeaderMethod, method)
		h.Set(mcp.HeaderName, mcp.EncodeName(taskID))
	}
	response, err := x.Endpoint.Client.Send(ctx, out, 0)
	if err != nil {
		var failed *exchange.SendError
		if errors.As(err, &failed) && (!failed.Sent || failed.Garbled) && ctx.Err() == nil {
			outbound.To(x.Endpoint).NoteFailure(u, failed)
		}
		return 0, mcp.Answer{}, err
	}
	defer response.Body.Close()
	if refusal := outbound.CredentialsRefused(response); refusal != nil {
		return response.Status, mcp.Answer{}, refusal
	}
	a, err := outbound.OwnAnswer(response, x.crossedBy(u))
	return response.Status, a, err
}

// ownPost makes a POST of berth's own to u: the caller's headers, less what they say
// of the caller's call.
func (x *request) ownPost(u *routing.Upstream, body []byte) *exchange.Request {
	return outbound.Outgoing(wire.MethodPost, x.endpointURL(u), x.Endpoint.HostFor(u, x.HTTP.Host), x.ownHeaders(), body)
}

// ownHeaders are the headers of ownPost.
func (x *request) ownHeaders() wire.Header {
	h := x.outboundHeaders()
	outbound.PostJSON(h)
	h.Del(mcp.HeaderMethod)
	h.Del(mcp.HeaderName)
	h.Del(mcp.HeaderLastEvent)
	outbound.DropCallsOwn(h)
	return h
}

// ownBody is the body of sendOwn's request.
func (x *request) ownBody(method, taskID string) []byte {
	params := map[string]any{}
	if taskID != "" {
		params["taskId"] = taskID
	}
	if x.Era() == mcp.EraModern {
		params["_meta"] = mcp.OwnMeta(x.Version())
	}
	message := map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(outbound.OwnID), "method": method}
	if len(params) > 0 {
		message["params"] = params
	}
	body, _ := json.Marshal(message) // strings and maps always marshal
	return body
}
