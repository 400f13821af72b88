package inbound

import (
	"context"
	"time"

	"berth/internal/fresh"
	"berth/internal/timed"
)

// recordTime bounds what recording may hold an answer up, whatever the store does.
const recordTime = time.Second

// Recording is a context for the store that outlives the client: a client that
// hangs up once its answer was read does not undo the record.
func (x *Call) Recording() (context.Context, context.CancelFunc) {
	r := recordings.Next()
	r.Begin(context.Background(), x.Now().Add(recordTime), nil)
	return r, r.End // short, so that it is inlined, and what ends a context costs no memory
}

var recordings = fresh.New[timed.Context](8)
