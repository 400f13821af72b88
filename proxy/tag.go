package proxy

import (
	"bytes"

	"berth/internal/mcp"
	"berth/internal/wire"
)

// isStray takes the tag off a client's answer in a session that has moved, and
// reports whether there is none: it answers an upstream that does not hold the session
// any more. The present one may have asked something else under the same id.
func (x *request) isStray() bool {
	if x.Alias == "" || !x.IsResponse() {
		return false
	}
	body, ok := mcp.UntagResponse(bytes.TrimSpace(x.Body), x.way().Tag())
	if ok {
		x.Body = body
	}
	return !ok
}

// dropStray takes an answer that nobody waits for, as a server does (2025-11-25,
// transports, "Sending Messages to the Server": 202). An error would end the session,
// or the connection, of a client that can do nothing about it.
func (x *request) dropStray() error {
	x.p.log.Debug("an answer to an upstream that lost the session is dropped", "pool", x.PoolName())
	x.out.Header().Set("Content-Length", "0")
	x.out.WriteHeader(wire.StatusAccepted)
	return nil
}
