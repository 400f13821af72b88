package outbound

import (
	"context"
	"io"

	"berth/upgrade"
)

// unroomed is how much of an answer to a held call is read without asking for room, in bytes:
// most are no larger.
const unroomed = 64 << 10

// roomReader reads an answer to a held call. What is large it goes on with once there is room
// for all that may come; the upstream waits meanwhile.
type roomReader struct {
	body io.Reader
	room *upgrade.Room
	take func(n int64) error // of room; waits for it
	most int64               // bytes of one message
	n    int64               // of this one, at most
}

// newRoomReader reads an answer of messages of at most that many bytes. ctx bounds the wait for
// room: it is the exchange's.
func newRoomReader(ctx context.Context, body io.Reader, most int64, room *upgrade.Room) *roomReader {
	return &roomReader{body: body, room: room, most: most, take: func(n int64) error { return room.Take(ctx, n) }}
}

// Read implements io.Reader.
func (r *roomReader) Read(p []byte) (int, error) {
	if r.n > unroomed {
		if err := r.take(r.most); err != nil {
			return 0, err
		}
	}
	n, err := r.body.Read(p)
	r.n += int64(n)
	return n, err
}

// next begins another message: the one before is not in memory any more.
func (r *roomReader) next() {
	r.n = 0
	r.room.Give()
}
