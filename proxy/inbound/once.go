package inbound

import (
	"berth/internal/wire"
	"berth/proxy/fault"
)

// OnceKey returns the name that the client gave the call, "" if it gave none.
func (x *Call) OnceKey() (string, error) {
	key, n := x.HTTP.Header.First(HeaderOnce)
	if n == 0 {
		return "", nil
	}
	if key = wire.Trim(key); n > 1 || key == "" || len(key) > maxOnce {
		return "", fault.OnceForm
	}
	return key, nil
}

// HeaderOnce bears a name that a client gives its call, so that the call can be repeated
// without being made twice.
const HeaderOnce = "Idempotency-Key"

// maxOnce bounds such a name, in bytes.
const maxOnce = 255
