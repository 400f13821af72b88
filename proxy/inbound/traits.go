package inbound

import (
	"time"

	"berth/sticky"
)

// TaskKey is the key of the task that the call is about.
func (x *Call) TaskKey() sticky.Key {
	return x.Endpoint.Router.TaskKey(x.Principal, x.Single().TaskID)
}

// AskedTTL is how long the client wants its task to live, 0 for as long as the rule says.
// That it wants none is a wish, too.
func (x *Call) AskedTTL() (time.Duration, error) {
	ttl, asked, err := x.Single().AskedTTL()
	if asked {
		ttl = max(ttl, time.Millisecond)
	}
	return ttl, err
}
