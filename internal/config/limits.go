package config

import "time"

// Limits is the [limits] table. What is by caller is by principal where the caller
// has one, and else by address.
type Limits struct {
	// Body is the largest request body, in bytes.
	Body Size `toml:"body"`
	// Answer is the largest answer, and the largest event of a stream, in bytes; 0 is
	// any size.
	Answer Size `toml:"answer"`
	// Headers is the largest request header, in bytes.
	Headers Size `toml:"headers"`
	// HeaderLines is how many lines a request header may have.
	HeaderLines int `toml:"header_lines"`
	// HeaderRead is how long a client may take to send its header.
	HeaderRead Duration `toml:"header_read"`
	// BodyRead is how long a client may take to send its body.
	BodyRead Duration `toml:"body_read"`
	// Idle is how long an unused client connection is kept.
	Idle Duration `toml:"idle"`
	// WriteStall is how long a client may take to read each 16 KiB of an answer.
	WriteStall Duration `toml:"write_stall"`
	// TaskID is the longest task id looked up, in bytes.
	TaskID int `toml:"task_id"`
	// SessionID is the longest session id looked up, or let through from an upstream, in bytes.
	SessionID int `toml:"session_id"`
	// Batch is the largest JSON-RPC batch of protocol 2025-03-26, in messages.
	Batch int `toml:"batch"`
	// InFlight is how many calls may be under way at once; the last tenth is for
	// calls about work that has begun.
	InFlight int `toml:"in_flight"`
	// InFlightPerCaller is how many of them one caller may have.
	InFlightPerCaller int `toml:"in_flight_per_caller"`
	// Buffered bounds the request bodies in memory, in bytes, of which one caller may
	// hold half. It is at most a quarter of GOMEMLIMIT, where that is set.
	Buffered Size `toml:"buffered"`
	// Streams is how many standing streams there may be at once: subscriptions, GET
	// streams, and tasks/result that wait for tasks of berth's own.
	Streams int `toml:"streams"`
	// StreamsPerCaller is how many of them one caller may have.
	StreamsPerCaller int `toml:"streams_per_caller"`
	// ConnectionsPerAddress is how many connections one address may hold; trusted
	// proxies may hold any number.
	ConnectionsPerAddress int `toml:"connections_per_address"`
	// Polls is how often one caller may ask for tasks; 0 is any rate.
	Polls Rate `toml:"polls"`
	// UnknownIDs is how often one caller may be told that an id is unknown; 0 is any
	// rate.
	UnknownIDs Rate `toml:"unknown_ids"`
	// KeptTasks is how many upgraded tasks there may be, those that have ended included,
	// until they expire.
	KeptTasks int `toml:"kept_tasks"`
	// KeptTasksPerCaller is how many of them one caller may have.
	KeptTasksPerCaller int `toml:"kept_tasks_per_caller"`
	// Kept bounds what they keep in the store, in bytes. With memory: it is at most a quarter
	// of GOMEMLIMIT, where that is set.
	Kept Size `toml:"kept"`
	// KeptPerCaller bounds the same of one caller. It is at most half of what Kept comes to.
	KeptPerCaller Size `toml:"kept_per_caller"`
	// LastSeenEntry is the largest task remembered for the time its owner is
	// silent, in bytes.
	LastSeenEntry Size `toml:"last_seen_entry"`
	// LastSeenTotal bounds all tasks so remembered, in bytes.
	LastSeenTotal Size `toml:"last_seen_total"`
}

func defaultLimits() Limits {
	return Limits{
		Body:                  4 * MiB,
		Headers:               32 * KiB,
		HeaderLines:           200,
		HeaderRead:            Duration(5 * time.Second),
		BodyRead:              Duration(30 * time.Second),
		Idle:                  Duration(180 * time.Second),
		WriteStall:            Duration(30 * time.Second),
		TaskID:                256,
		SessionID:             2048,
		Batch:                 100,
		InFlight:              5000,
		InFlightPerCaller:     2500,
		Buffered:              256 * MiB,
		Streams:               20_000,
		StreamsPerCaller:      10_000,
		ConnectionsPerAddress: 4096,
		Polls:                 10_000,
		UnknownIDs:            20,
		KeptTasks:             100_000,
		KeptTasksPerCaller:    50_000,
		Kept:                  GiB,
		KeptPerCaller:         512 * MiB,
		LastSeenEntry:         64 * KiB,
		LastSeenTotal:         64 * MiB,
	}
}

func (v *validator) limits(l Limits) {
	within(v, "limits.body", l.Body, KiB, GiB)
	within(v, "limits.answer", l.Answer, 0, 1024*GiB)
	if l.Answer > 0 && l.Answer < KiB {
		v.fault("limits.answer", "must be 0, for any size, or at least %v, got %v", KiB, l.Answer)
	}
	within(v, "limits.headers", l.Headers, KiB, MiB)
	within(v, "limits.header_lines", l.HeaderLines, 20, 10_000)
	within(v, "limits.header_read", l.HeaderRead, shortest, hour)
	within(v, "limits.body_read", l.BodyRead, shortest, hour)
	within(v, "limits.idle", l.Idle, shortest, day)
	within(v, "limits.write_stall", l.WriteStall, shortest, hour)
	within(v, "limits.task_id", l.TaskID, 16, 4096)
	within(v, "limits.session_id", l.SessionID, 64, 16_384)
	within(v, "limits.batch", l.Batch, 1, 10_000)
	v.shares(l)
	within(v, "limits.last_seen_entry", l.LastSeenEntry, KiB, GiB)
	within(v, "limits.last_seen_total", l.LastSeenTotal, KiB, 64*GiB)
	if l.LastSeenTotal < l.LastSeenEntry {
		v.fault("limits.last_seen_total", "must be at least limits.last_seen_entry (%v), got %v", l.LastSeenEntry, l.LastSeenTotal)
	}
}

// shares judges what callers together and one caller may take.
func (v *validator) shares(l Limits) {
	const most = 10_000_000
	within(v, "limits.in_flight", l.InFlight, 1, most)
	within(v, "limits.in_flight_per_caller", l.InFlightPerCaller, 1, most)
	within(v, "limits.streams", l.Streams, 1, most)
	within(v, "limits.streams_per_caller", l.StreamsPerCaller, 1, most)
	within(v, "limits.connections_per_address", l.ConnectionsPerAddress, 1, most)
	within(v, "limits.buffered", l.Buffered, KiB, 64*GiB)
	within(v, "limits.kept_tasks", l.KeptTasks, 1, most)
	within(v, "limits.kept_tasks_per_caller", l.KeptTasksPerCaller, 1, most)
	within(v, "limits.kept", l.Kept, MiB, 1024*GiB)
	within(v, "limits.kept_per_caller", l.KeptPerCaller, MiB, 1024*GiB)
	if l.Buffered < 2*l.Body {
		v.fault("limits.buffered", "must be at least twice limits.body (%v), got %v", l.Body, l.Buffered)
	}
}
