package upgrade

import (
	"context"

	"berth/upgrade/task"
)

// Whose tells operators who may ask for a task. Errors are those of Get.
func (t *Tasks) Whose(ctx context.Context, id string) (task.Asker, error) {
	e, err := t.ledger.Read(ctx, id)
	return task.Asker{Pool: e.Pool, Principal: e.Principal}, err
}
