package tasks

import (
	"cmp"
	"slices"

	"berth/internal/mcp"
	"berth/proxy/audit"
	"berth/proxy/fault"
	"berth/proxy/inbound"
	"berth/upgrade"
)

// CheckTakesTasks refuses a client that cannot take the task which the rule insists on. In
// a batch, of which nobody gets a task, no such tool is called.
func (f *Face) CheckTakesTasks(call *inbound.Call, rec *audit.Record) error {
	if call.Message.Batch && slices.ContainsFunc(call.Message.Calls, func(c mcp.Call) bool { return isRequired(f.ruleOf(call, &c)) }) {
		return fault.RequiredInBatch
	}
	switch {
	case !isRequired(f.Rule(call)) || f.Upgradable(call) || f.AsksTask(call):
		return nil
	case call.Single().Era == mcp.EraModern:
		return cmp.Or(CheckServed(call, rec), error(mcp.ErrMissingTasks))
	}
	return fault.TaskRequired
}

func isRequired(rule *upgrade.Rule) bool { return rule != nil && rule.Required }

// CheckMayAsk refuses a request about a task of berth's own that a server must not let pass, or whose client
// has not said that it takes tasks.
func CheckMayAsk(call *inbound.Call, rec *audit.Record) error {
	if err := CheckServed(call, rec); err != nil {
		return err
	}
	if c := call.Single(); c.Era == mcp.EraModern && !c.DeclaresTasks {
		return mcp.ErrMissingTasks
	}
	return nil
}

// CheckServed refuses a request for what a server must not let pass. It is called where
// berth itself is the server: of what it passes on the upstream judges.
func CheckServed(call *inbound.Call, rec *audit.Record) error {
	if !call.DeclaresJSON() {
		return fault.ContentType
	}
	if !call.TakesAnswers() {
		return fault.Accept
	}
	if call.Era() == mcp.EraLegacy {
		return call.CheckLegacyVersion()
	}
	missing, refusal := call.Single().CheckServed(call.HTTP.Header, call.Endpoint.Lenient)
	if refusal != nil {
		return refusal
	}
	for _, header := range missing {
		rec.Lacked(header)
	}
	return nil
}
