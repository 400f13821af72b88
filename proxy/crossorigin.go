package proxy

import (
	"berth/internal/wire"
	"berth/proxy/reply"
)

// ruledBy notes which pages one of the upstreams lets read its list. Where they differ
// none may read the whole. A list of berth's own tasks alone is ruled by none.
func (l *listing) ruledBy(rule wire.Header) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ruled && !reply.SameRule(l.rule, rule) {
		rule = nil
	}
	l.ruled, l.rule = true, rule
}
