package mirrored

import "berth/internal/wire"

func header(pairs ...string) *wire.Header {
	h := new(wire.Header)
	for i := 0; i < len(pairs); i += 2 {
		h.Add(wire.CanonicalName(pairs[i]), pairs[i+1])
	}
	return h
}

// request is a message with the given members of params.
func request(method, params string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + `}}`
}
