package bridge

import (
	"strconv"
	"time"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/proxy/session"
)

// busy is what a call fails with whose server has too much to do, and says for how long if it does.
func busy(answer *session.Refusal, message string) *mcp.Error {
	worded := fault.Unavailable(mcp.ReasonOverloaded, message)
	worded.Status = answer.Status
	if d := retryAfter(answer.Header); d > 0 {
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
