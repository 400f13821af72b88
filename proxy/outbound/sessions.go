package outbound

import (
	"time"

	"berth/internal/wire"
)

// DeniesSession reports whether a status may deny a session: servers say 404 of one that they
// do not hold, or 400 (SDKs for TypeScript).
func DeniesSession(status int) bool {
	return status == wire.StatusNotFound || status == wire.StatusBadRequest
}

// ConfirmTime bounds the question whether a 404 or 400 is about the session.
const ConfirmTime = 3 * time.Second
