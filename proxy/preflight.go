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
	for _, f := range response.Header.Fields() {
		if strings.HasPrefix(f.Name, "Access-Control-") {
			return true
		}
	}
	return false
}
