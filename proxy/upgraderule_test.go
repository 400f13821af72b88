package proxy_test

import (
	"time"

	"berth/proxy"
	"berth/upgrade"
)

// withRule makes calls of the tool "work" such as a client may get a task for.
func withRule(o *proxy.Options) { o.Rules = upgrade.Rules{{Tools: []string{"work"}, TTL: time.Hour}} }
