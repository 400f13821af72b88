package proxy

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// crossOrigin returns what an upstream's answer says of the pages that may read it
// (CORS). Whatever berth makes of that answer for somebody else is under the same
// rule: without it no page could read it, and with a rule of berth's own pages could
// that the upstream keeps out.
func crossOrigin(h http.Header) http.Header {
	rule := http.Header{}
	for name, values := range h {
		if strings.HasPrefix(name, "Access-Control-") || name == "Vary" {
			rule[name] = slices.Clone(values)
		}
	}
	return rule
}

// sameRule reports whether two answers may be read by the same pages.
func sameRule(a, b http.Header) bool { return maps.EqualFunc(a, b, slices.Equal) }

// ruledBy notes which pages one of the upstreams lets read its list. Where they differ
// none may read the whole.
func (l *listing) ruledBy(rule http.Header) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ruled && !sameRule(l.rule, rule) {
		rule = nil
	}
	l.ruled, l.rule = true, rule
}
