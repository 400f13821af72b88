package outbound

import (
	"context"
	"errors"
	"fmt"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/routing"
)

// ErrNotCancelled says that an upstream has refused to give a task up.
var ErrNotCancelled = errors.New("proxy: the upstream has not cancelled the task")

// CancelTask has u give up a task of its own (Tasks extension, "Task Cancellation"), in nobody's name: with
// the credentials that berth has for the pool, or none. The error wraps ErrNotCancelled, or says why there was
// no answer; it repeats nothing that u has said.
func (s Sender) CancelTask(ctx context.Context, u *routing.Upstream, id string) error {
	out := s.meeting(u, u.URL.Host, wire.MethodPost, OwnMessage(mcp.MethodCancelTask, map[string]any{"taskId": id, "_meta": mcp.OwnMeta(meetingModern)}))
	out.Header.Set(mcp.HeaderVersion, meetingModern)
	out.Header.Set(mcp.HeaderMethod, mcp.MethodCancelTask)
	out.Header.Set(mcp.HeaderName, mcp.EncodeName(id))
	response, err := s.Send(ctx, u, out, Terms{})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	own := s.Authorization != nil && s.Authorization.Value != nil
	if wire.RefusesCredentials(response.Status) && !own {
		return fmt.Errorf("%w: it wants its caller's credentials (HTTP %d), and berth keeps nobody's: ask the client, or give berth credentials of its own (authorization = \"replace\")", ErrNotCancelled, response.Status)
	}
	if wire.RefusesCredentials(response.Status) {
		return fmt.Errorf("%w: it does not take berth's credentials (HTTP %d)", ErrNotCancelled, response.Status)
	}
	a, err := OwnAnswer(response, mcp.ID(out.Body), func() {})
	switch {
	case err != nil:
		return err
	case a.IsError:
		return fmt.Errorf("%w: it answers with error %d (HTTP %d)", ErrNotCancelled, a.ErrorCode, response.Status)
	case !a.HasResult:
		return fmt.Errorf("%w: it answers with HTTP %d, not in JSON-RPC", ErrNotCancelled, response.Status)
	}
	return nil
}
