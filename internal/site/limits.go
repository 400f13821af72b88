package site

import (
	"fmt"

	"berth/internal/api"
	"berth/internal/config"
	"berth/internal/limit"
	"berth/proxy"
	refusal "berth/proxy/fault"
	"berth/upgrade"
)

// uncounted stands for a number that nobody keeps.
const uncounted = -1

// limits are the bounds of [limits], in the order of the file, each with what is used of it and what it
// has turned away at this berth.
func (s *Site) limits() []api.Limit {
	l := limits{proxy: s.Proxy(), tasks: s.tasks.Load(), use: s.Proxy().Use(), s: s}
	cfg := s.now.Load().cfg.Limits
	l.ofMessages(cfg)
	l.ofLoad(cfg)
	l.ofTasks(cfg)
	for i, rule := range cfg.Rate {
		l.add("limits."+fmt.Sprintf("rate[%d]", i), rule.Per, rule.Rate, uncounted, l.proxy.RefusedBy(rule.EffectiveName()), "calls")
	}
	if memory := limit.NewMemory().Limit(); memory > 0 {
		l.add("GOMEMLIMIT", "berth", config.Size(memory), uncounted, l.proxy.Refused("memory"), "bytes")
	}
	return l.all
}

type limits struct {
	s     *Site
	proxy *proxy.Proxy
	tasks *upgrade.Tasks // nil: there are none
	use   proxy.Use
	all   []api.Limit
}

func (l *limits) add(key, scope string, most any, used, refused int64, unit string) {
	l.all = append(l.all, api.Limit{Key: key, Scope: scope, Most: fmt.Sprint(most), Used: used, Refused: refused, Unit: unit})
}

// ofMessages are the bounds of one message, or of the time that it may take.
func (l *limits) ofMessages(cfg config.Limits) {
	of := func(key, scope string, most any, refused int64, unit string) {
		l.add("limits."+key, scope, most, uncounted, refused, unit)
	}
	of("body", "request", cfg.Body, l.s.Troubles.Refused(refusal.BodyTooLarge.Message), "bytes")
	var answer any = cfg.Answer
	if cfg.Answer == 0 {
		answer = "any"
	}
	of("answer", "answer", answer, uncounted, "bytes")
	of("headers", "request", cfg.Headers, uncounted, "bytes")
	of("header_lines", "request", cfg.HeaderLines, l.s.Troubles.Refused(refusal.TooManyHeaders.Message), "lines")
	of("header_read", "request", cfg.HeaderRead, uncounted, "")
	of("body_read", "request", cfg.BodyRead, l.s.Troubles.Refused(refusal.BodySlow.Message), "")
	of("idle", "connection", cfg.Idle, uncounted, "")
	of("write_stall", "connection", cfg.WriteStall, uncounted, "")
	of("task_id", "request", cfg.TaskID, uncounted, "bytes")
	of("session_id", "request", cfg.SessionID, uncounted, "bytes")
	of("batch", "request", cfg.Batch, uncounted, "messages")
}

// ofLoad are the bounds of what is under way.
func (l *limits) ofLoad(cfg config.Limits) {
	use, p := l.use, l.proxy
	l.add("limits.in_flight", "berth", cfg.InFlight, use.Calls, p.Refused("in_flight", "reserve"), "requests")
	l.add("limits.in_flight_per_caller", "caller", cfg.InFlightPerCaller, uncounted, p.Refused("caller_calls"), "requests")
	l.add("limits.buffered", "berth", cfg.Buffered, use.Bodies, p.Refused("buffered"), "bytes")
	l.add("limits.streams", "berth", cfg.Streams, use.Streams, p.Refused("streams"), "streams")
	l.add("limits.streams_per_caller", "caller", cfg.StreamsPerCaller, uncounted, p.Refused("caller_streams"), "streams")
	l.add("limits.streams_per_connection", "connection", cfg.StreamsPerConnection, uncounted, uncounted, "requests")
	refused := int64(uncounted)
	if l.s.connections != nil {
		refused = l.s.connections.Refused()
	}
	l.add("limits.connections_per_address", "address", cfg.ConnectionsPerAddress, uncounted, refused, "connections")
	l.add("limits.polls", "caller", cfg.Polls, uncounted, p.Refused("polls"), "requests")
	l.add("limits.unknown_ids", "caller", cfg.UnknownIDs, uncounted, p.Refused("unknown_ids"), "ids")
}

// ofTasks are the bounds of what is kept of tasks.
func (l *limits) ofTasks(cfg config.Limits) {
	var kept struct{ tasks, bytes int64 }
	refused := func(...string) int64 { return 0 }
	if l.tasks != nil {
		use := l.tasks.Use.Kept()
		kept.tasks, kept.bytes, refused = int64(use.Tasks), use.Bytes, l.tasks.Use.RefusedBy
	}
	l.add("limits.kept_tasks", "berth", cfg.KeptTasks, kept.tasks, refused("kept_tasks"), "tasks")
	l.add("limits.kept_tasks_per_caller", "caller", cfg.KeptTasksPerCaller, uncounted, refused("caller_kept_tasks"), "tasks")
	l.add("limits.kept", "berth", cfg.Kept, kept.bytes, refused("kept", "outcome", "question", "answers"), "bytes")
	l.add("limits.kept_per_caller", "caller", cfg.KeptPerCaller, uncounted, refused("caller_kept"), "bytes")
	l.add("limits.kept_sessions_per_caller", "caller", cfg.KeptSessionsPerCaller, uncounted, l.proxy.Refused("caller_sessions"), "bytes")
	l.add("limits.last_seen_entry", "task", cfg.LastSeenEntry, uncounted, uncounted, "bytes")
	l.add("limits.last_seen_total", "berth", cfg.LastSeenTotal, l.use.LastSeen, uncounted, "bytes")
}

// keptSessions is what one caller's sessions may keep in a process with this memory limit; 0: it has none.
func keptSessions(l config.Limits, memory int64, inMemory bool) int64 {
	most := int64(l.KeptSessionsPerCaller)
	if memory > 0 && inMemory {
		most = min(most, memory/(2*ofMemory))
	}
	return most
}
