package config

// Limits is the [limits] table. A caller is a principal, where there are such, and else an address.
type Limits struct {
	Body                  Size     `toml:"body" default:"4MiB" within:"1KiB 1GiB"`
	Answer                Size     `toml:"answer" within:"0 1024GiB"`
	Headers               Size     `toml:"headers" default:"32KiB" within:"1KiB 1MiB" reload:"restart"`
	HeaderLines           int      `toml:"header_lines" default:"200" within:"20 10000"`
	HeaderRead            Duration `toml:"header_read" default:"5s" within:"1ms 1h" reload:"restart"`
	BodyRead              Duration `toml:"body_read" default:"30s" within:"1ms 1h"`
	Idle                  Duration `toml:"idle" default:"180s" within:"1ms 24h" reload:"restart"`
	WriteStall            Duration `toml:"write_stall" default:"30s" within:"1ms 1h"`
	TaskID                int      `toml:"task_id" default:"256" within:"16 4096"`
	SessionID             int      `toml:"session_id" default:"2048" within:"64 16384"`
	Batch                 int      `toml:"batch" default:"100" within:"1 10000"`
	InFlight              int      `toml:"in_flight" default:"5000" within:"1 10000000"`
	InFlightPerCaller     int      `toml:"in_flight_per_caller" default:"2500" within:"1 10000000"`
	Buffered              Size     `toml:"buffered" default:"256MiB" within:"1KiB 64GiB"`
	Streams               int      `toml:"streams" default:"20000" within:"1 10000000"`
	StreamsPerCaller      int      `toml:"streams_per_caller" default:"10000" within:"1 10000000"`
	StreamsPerConnection  int      `toml:"streams_per_connection" default:"250" within:"1 100000" reload:"restart"`
	ConnectionsPerAddress int      `toml:"connections_per_address" default:"4096" within:"1 10000000"`
	Polls                 Rate     `toml:"polls" default:"10000/s"`
	UnknownIDs            Rate     `toml:"unknown_ids" default:"20/s"`
	KeptTasks             int      `toml:"kept_tasks" default:"100000" within:"1 10000000"`
	KeptTasksPerCaller    int      `toml:"kept_tasks_per_caller" default:"50000" within:"1 10000000"`
	Kept                  Size     `toml:"kept" default:"1GiB" within:"1MiB 1024GiB"`
	KeptPerCaller         Size     `toml:"kept_per_caller" default:"512MiB" within:"1MiB 1024GiB"`
	KeptSessionsPerCaller Size     `toml:"kept_sessions_per_caller" default:"32MiB" within:"1MiB 64GiB"`
	LastSeenEntry         Size     `toml:"last_seen_entry" default:"64KiB" within:"1KiB 1GiB"`
	LastSeenTotal         Size     `toml:"last_seen_total" default:"64MiB" within:"1KiB 64GiB"`

	Rate []RateLimit `toml:"rate"`
}

func (v *validator) limits(l Limits) {
	v.faultIf(l.Answer > 0 && l.Answer < KiB, "limits.answer", "must be 0, for any size, or at least %v, got %v", KiB, l.Answer)
	v.faultIf(l.Buffered < 2*l.Body, "limits.buffered", "must be at least twice limits.body (%v), got %v", l.Body, l.Buffered)
	if l.LastSeenTotal < l.LastSeenEntry {
		v.fault("limits.last_seen_total", "must be at least limits.last_seen_entry (%v), got %v", l.LastSeenEntry, l.LastSeenTotal)
	}
}
