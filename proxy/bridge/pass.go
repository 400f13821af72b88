package bridge

import (
	"context"
	"errors"
	"fmt"

	"berth/internal/exchange"
	"berth/internal/relay"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/proxy/resident"
)

// pass has the berth go on that holds the call which a request is of. It fails with errHolderGone if that berth is gone and has taken
// nothing, and with errHolderLost if it is lost and may have. A round may be taken again, as its client might: where a flush of the store
// has lost what was passed on, the berth that lives is passed it once more; and none that fails on the way counts as sent.
func (b *Bridge) pass(ctx context.Context, to string, request *exchange.Request) (*wire.Response, error) {
	if b.options().Relay == nil || to == b.name {
		return nil, errHolderGone
	}
	for taken := false; ; taken = true { // it may be
		response, err := b.options().Relay.Pass(ctx, to, resident.Addressed(request, b.options().Endpoint.Router.Pool.Name()), 0)
		failed, unanswered := errors.AsType[*exchange.SendError](err)
		isLost := errors.Is(err, relay.ErrLost)
		switch {
		case isLost && !taken:
		case isLost, errors.Is(err, relay.ErrGone) && taken:
			return nil, errHolderLost
		case errors.Is(err, relay.ErrGone):
			return nil, errHolderGone
		case unanswered && failed.Between && (failed.Sent || taken):
			return nil, &exchange.SendError{Err: fmt.Errorf("%w: %w", fault.MayHaveRun(fault.Word(err, true)), failed.Err), Between: true}
		default:
			return response, err
		}
	}
}
