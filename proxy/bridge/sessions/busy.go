package sessions

import (
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/proxy/session"
)

// errTooMany is what a call fails with for which no session may be opened.
var errTooMany = fault.Unavailable(mcp.ReasonOverloaded, "too many sessions are open at the server")

// ErrTurnedAway is wrapped, beside the words for the client, where a bound of berth's own keeps a call from its server.
var ErrTurnedAway = errors.New("sessions: the server was not asked")

func turnedAway(worded *mcp.Error) error { return errors.Join(ErrTurnedAway, worded) }

// Busy is what a call fails with whose server has too much to do, as status and header of its answer say, and for how long if they do.
func Busy(status int, h *wire.Header, message string) *mcp.Error {
	worded := fault.Unavailable(mcp.ReasonOverloaded, message)
	worded.Status = status
	if d := retryAfter(h); d > 0 {
		worded.RetryAfter = d
	}
	return worded
}

// retryAfter reads Retry-After: seconds, or a date (RFC 9110, 10.2.3). What is neither says nothing.
func retryAfter(h *wire.Header) time.Duration {
	said := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(said, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if date, err := time.Parse(time.RFC1123, said); err == nil {
		return max(0, time.Until(date))
	}
	return 0
}

// asWorded is the error that an answer bears.
func asWorded(answer *session.Refusal) *mcp.Error {
	var object struct {
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	_ = json.Unmarshal(answer.Object, &object) // it was read as JSON
	e := &mcp.Error{Status: answer.Status, Code: answer.Code, Message: object.Message}
	if object.Data != nil {
		e.Data = object.Data
	}
	e.RetryAfter = retryAfter(answer.Header)
	return e
}
