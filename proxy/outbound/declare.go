package outbound

import (
	"bytes"
	"context"
	"io"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/routing"
	"berth/upgrade"
)

// Declares has a held call declare the Tasks extension from now on, if the answer, whole, refuses it because it does not: nothing has
// run, and its client has declared that. It reports whether the call may be sent again so.
func Declares(c *upgrade.Call, answer []byte) bool {
	if !mcp.DemandsTasks(answer) {
		return false
	}
	body := mcp.DeclareTasks(c.Body)
	if body != nil {
		c.Body = body
	}
	return body != nil
}

// mostRefusal is how much of a refusal is read to see why, in bytes.
const mostRefusal = 64 << 10

// sendRefused is Transport.Send from an answer on that refuses the call.
func (s Sender) sendRefused(ctx context.Context, u *routing.Upstream, c *upgrade.Call, response *wire.Response, maxAnswer int64) (upgrade.Exchange, error) {
	head, err := ReadAll(io.LimitReader(response.Body, mostRefusal), response.ContentLength)
	body := io.MultiReader(bytes.NewReader(head), response.Body)
	if err == nil && Declares(c, head) {
		response.Body.Close()
		if response, err = s.sendHeld(ctx, u, c); err != nil {
			return nil, err
		}
		body = response.Body
	}
	return NewHeldAnswer(ctx, response, body, maxAnswer, c.Room), nil
}
