package proxy

import (
	"strings"

	"berth/proxy/fault"
	"berth/upgrade"
)

// headerOnce bears a name that a client gives its call, so that the call can be repeated
// without being made twice.
const headerOnce = "Idempotency-Key"

// maxOnce bounds such a name, in bytes.
const maxOnce = 255

// onceKey returns the name that the client gave the call, "" if it gave none.
func (x *request) onceKey() (string, error) {
	values := x.r.Header.Values(headerOnce)
	if len(values) == 0 {
		return "", nil
	}
	key := strings.Trim(values[0], " \t")
	if len(values) > 1 || key == "" || len(key) > maxOnce {
		return "", fault.OnceForm
	}
	return key, nil
}

// upgradeOnce makes a task of a call that has a name, whatever the rule says of waiting
// for its answer or of a store that is away: neither could be repeated. A refusal can be,
// for it leaves no task. From its record on the task does not depend on the client: another
// of its requests may have the handle.
func (x *request) upgradeOnce(c upgrade.Creation, key string) error {
	wait := patience{grace: c.Rule.RefusalGrace, lasting: true}
	c.Withhold = wait.withhold()
	held, earlier, err := x.p.options.Tasks.CreateOnce(x.ctx, c, key)
	switch {
	case err != nil:
		return err
	case held == nil:
		return x.handOut(earlier)
	}
	return x.beginLasting(held, wait)
}
