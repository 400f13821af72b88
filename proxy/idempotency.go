package proxy

import (
	"berth/upgrade"
)

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
