package proxy

import (
	"errors"

	"berth/proxy/failover"
)

// errRouted has dispatch send the request to where it was routed.
var errRouted = errors.New("proxy: the request was routed")

// route decides where the request goes. It returns errRouted; else the request is answered, or refused with the error.
func (x *request) route() error {
	q := x.Query()
	if err := x.Decide(&q, &x.rec); err != nil {
		return x.unroutable(err)
	}
	return errRouted
}

// unroutable answers a call about a task that could not be routed with the task
// as it was last seen, if this berth saw its end, or did not lose it for long.
func (x *request) unroutable(err error) error {
	if at, ok := failover.Orphaned(x.Call, err); ok {
		x.Decision = at
		if v := x.p.mover.Lost(x.Ctx, x.Case(), nil); v.Step != failover.Stay {
			return x.act(v)
		}
	}
	seen, refusal := x.Guide.Unroutable(x.Call, &x.rec, err)
	if serveStale(&x.Decision, x.out, seen) {
		return nil
	}
	x.p.gate.NoteMiss(x.Caller, err)
	return refusal
}
