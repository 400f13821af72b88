package resident

import (
	"net/url"

	"berth/internal/exchange"
)

// scheme is that of a request on its way to another berth: its host is the pool, and its query the
// URL that the request is for.
const scheme = "berth"

// Addressed is a request as it is passed on: it says which pool it is of.
func Addressed(request *exchange.Request, pool string) *exchange.Request {
	passed := *request
	passed.URL = &url.URL{Scheme: scheme, Path: "/" + pool, RawQuery: url.Values{"for": {request.URL.String()}}.Encode()}
	return &passed
}

// Unaddressed undoes Addressed. ok is false if the request was not passed on so.
func Unaddressed(passed *exchange.Request) (request *exchange.Request, pool string, ok bool) {
	target, err := url.Parse(passed.URL.Query().Get("for"))
	if err != nil || passed.URL.Scheme != scheme || len(passed.URL.Path) < 2 {
		return nil, "", false
	}
	own := *passed
	own.URL = target
	return &own, passed.URL.Path[1:], true
}
