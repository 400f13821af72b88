package proxy

import (
	"strings"

	"berth/internal/wire"
)

// answersPreflight reports whether an upstream's answer to a preflight is one: it lets some
// page in, or it forbids, or it shows that it knows of such questions. Servers that do not
// have all sorts of answers.
func answersPreflight(response *wire.Response) bool {
	if response.Status == wire.StatusForbidden {
		return true
	}
	for name := range response.Header {
		if strings.HasPrefix(name, "Access-Control-") {
			return true
		}
	}
	return false
}

// grant answers a preflight where no upstream does: the page may send what clients send
// that are no pages.
func (x *request) grant() {
	h := x.out.Header()
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	if names := x.Grantable(); len(names) > 0 {
		h.Set("Access-Control-Allow-Headers", strings.Join(names, ", "))
	}
	h.Set("Access-Control-Max-Age", "600")
	h.Set("Vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers")
	x.out.WriteHeader(wire.StatusNoContent)
}
