package upgrade

import (
	"context"
	"errors"
	"time"

	"berth/internal/storage"
	"berth/upgrade/ledger"
)

// createTime bounds what a server may take for one operation of a creation. A server that is
// down costs no more than that, since the first one fails; one that is slow has as much for
// each of them.
const createTime = 250 * time.Millisecond

// trip is a part of a creation that asks the store; nil: it need not be asked.
type trip func(ctx context.Context) error

// inTime makes trips one after the other, each within the time that a server may take once
// it is asked. A disk is waited for.
func inTime(ctx context.Context, s ledger.Store, trips ...trip) error {
	for _, trip := range trips {
		if trip == nil {
			continue
		}
		began := time.Now()
		err := inServersTime(ctx, s, trip)
		if errors.Is(err, storage.ErrUnavailable) && s.Health().Answered.After(began) {
			err = inServersTime(ctx, s, trip) // others were served: one answer was late
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func inServersTime(ctx context.Context, s ledger.Store, trip trip) error {
	if !s.Shared() {
		return trip(ctx)
	}
	ctx, cancel := ledger.Bounded(storage.Within(ctx, createTime))
	defer cancel()
	return ledger.Unavailable(trip(ctx))
}
