package legacy

import (
	"io"
	"time"

	"berth/internal/mcp"
	"berth/internal/sse"
	"berth/internal/wire"
	"berth/proxy/fault"
)

const (
	// MaxAnswer bounds one message of an upstream's, in bytes.
	MaxAnswer = 64 << 20

	// MaxEvent bounds the ids of events that streams are resumed from, in bytes: they are sent in a header.
	MaxEvent = 4 << 10

	// presized is how long an answer may say that it is to be believed before it has come.
	presized = 64 << 10

	// maxAlone bounds for how long a server may want to be left alone before a stream of its is resumed.
	maxAlone = time.Minute
)

// ReadWhole reads an answer that is one message. One that is too large is fault.AnswerTooLarge.
func ReadWhole(response *wire.Response) ([]byte, error) {
	if n := response.ContentLength; n >= 0 && n <= presized {
		body := make([]byte, n)
		_, err := io.ReadFull(response.Body, body)
		return mcp.Unmarked(body), err
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, MaxAnswer+1))
	if err == nil && len(body) > MaxAnswer {
		err = fault.AnswerTooLarge
	}
	return mcp.Unmarked(body), err
}

// LeaveAlone notes for how long a server wants to be left alone, if an event says so (2025-11-25, transports: "The client MUST
// respect the retry field").
func LeaveAlone(alone *time.Duration, e *sse.Event) {
	if d := e.Retry(); d > 0 {
		*alone = min(d, maxAlone)
	}
}
