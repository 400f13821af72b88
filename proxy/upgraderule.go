package proxy

import (
	"berth/internal/mcp"
	"berth/upgrade"
)

// rule returns the rule that names the tool which the request calls; nil if none does.
// A batch has one answer for all its calls, so that none of them can become a task.
func (x *request) rule() *upgrade.Rule { return x.ruleOf(x.Single()) }

func (x *request) ruleOf(c *mcp.Call) *upgrade.Rule {
	if c == nil || c.Kind != mcp.KindRequest || c.Method != mcp.MethodCallTool {
		return nil
	}
	return x.p.options.Rules.For(x.PoolName(), c.Name)
}
