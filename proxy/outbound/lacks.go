package outbound

import (
	"bytes"
	"strconv"
	"strings"

	"berth/internal/wire"
)

// LacksMethod reports whether an answer says that its server has no such method, in the plain words of the SDK for Go. The answer can be
// read afterwards as it was.
func LacksMethod(response *wire.Response, method string) bool {
	if !isPlainRefusal(response) {
		return false
	}
	body, _ := peekRefusal(response, nil)
	return SaysItLacks(response, body, method)
}

// SaysItLacks is LacksMethod of an answer with this body.
func SaysItLacks(response *wire.Response, body []byte, method string) bool {
	return isPlainRefusal(response) && string(bytes.TrimSpace(body)) == "JSON RPC not handled: "+strconv.Quote(method)+" unsupported"
}

func isPlainRefusal(response *wire.Response) bool {
	if response.Status != wire.StatusBadRequest {
		return false
	}
	media, _, _ := strings.Cut(response.Header.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(media), "text/plain")
}
