package proxy

import (
	"berth/proxy/inbound"
	"berth/proxy/reply"
)

// bridge returns the request's early stream, which begins to count the first time; nil where
// nothing is to be opened. Pages of browsers get none: which of them may read an answer
// only the upstream can say (see crossOrigin), and it has not answered.
func (x *request) bridge() *reply.Early {
	if x.out.Early == nil && x.p.tasks.Rule(x.Call) != nil && len(x.HTTP.Header["Origin"]) == 0 && inbound.AcceptsEvents(x.HTTP.Header) {
		x.out.BeginEarly(x.Single().ProgressToken)
	}
	return x.out.Early
}
