package bridge

import (
	"context"

	"berth/internal/mcp"
)

// show puts what the task asks into the view.
func (t *task) show(ctx context.Context, v *mcp.TaskView) error {
	v.Status = "working"
	return nil
}

// update gives the server what the client answers.
func (t *task) update(ctx context.Context) error {
	if _, err := mcp.InputResponses(t.c.out.Body); err != nil {
		return err
	}
	_, err := t.read(ctx)
	return err
}
