package ledger

import "context"

// FreeSlot gives a place back, as soon as the store takes it.
func (l *Ledger) FreeSlot(ctx context.Context, list, name string) {
	free := func(ctx context.Context) error { return l.Store.RemoveMember(ctx, list, name) }
	if free(ctx) != nil {
		l.Backlog.Add(free)
	}
}
