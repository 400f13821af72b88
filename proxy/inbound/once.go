package inbound

import (
	"strings"

	"berth/proxy/fault"
)

// OnceKey returns the name that the client gave the call, "" if it gave none.
func (x *Call) OnceKey() (string, error) {
	values := x.HTTP.Header.Values(HeaderOnce)
	if len(values) == 0 {
		return "", nil
	}
	key := strings.Trim(values[0], " \t")
	if len(values) > 1 || key == "" || len(key) > maxOnce {
		return "", fault.OnceForm
	}
	return key, nil
}

// HeaderOnce bears a name that a client gives its call, so that the call can be repeated
// without being made twice.
const HeaderOnce = "Idempotency-Key"

// maxOnce bounds such a name, in bytes.
const maxOnce = 255
