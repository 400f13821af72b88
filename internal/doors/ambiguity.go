package doors

import (
	"net/http"
	"strings"

	"berth/internal/h1/head"
)

// unambiguous refuses what HTTP/2 can say and HTTP/1.1, in which it goes upstream, cannot: a target with blanks, a fragment or what is no
// ASCII, and what frames a body in a name with underscores. It refuses requests that name one authority in :authority and another one in Host
// (RFC 9113, 8.3.1) as well: what is asked of whom must not depend on who reads it.
func unambiguous(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if why := ambiguity(r); why != "" {
			http.Error(w, why, http.StatusBadRequest)
			return
		}
		r.Header.Del("Host")
		next.ServeHTTP(w, r)
	})
}

func ambiguity(r *http.Request) string {
	for _, host := range r.Header.Values("Host") {
		if !strings.EqualFold(host, r.Host) {
			return "Host and :authority differ"
		}
	}
	if !head.IsHost(r.Host) {
		return ":authority is no host"
	}
	if r.RequestURI != "" && !head.IsTarget(r.RequestURI) {
		return ":path is no target of a request"
	}
	for name := range r.Header {
		if head.IsFramingAlias(name) {
			return "framing field spelt with an underscore"
		}
	}
	return ""
}
