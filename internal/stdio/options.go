package stdio

import (
	"crypto/rand"
	"log/slog"
	"time"

	"berth/internal/stdio/process"
)

// Isolation says who shares a process.
type Isolation uint8

const (
	// IsolateSession gives each session a process.
	IsolateSession Isolation = iota
	// IsolateAll has one process for all.
	IsolateAll
	// IsolatePrincipal has a process for each Caller of a request, and for each of its sessions whose client may be asked something,
	// until it has half of MaxProcesses; from then on those share. Of requests without a Caller each
	// session gets a process: strangers share nothing.
	IsolatePrincipal
	// IsolateCall gives each tools/call a process, which is initialised as its session's was and
	// ends with the answer. The other requests of a session share one.
	IsolateCall
)

// Options say what is run, and how. Command alone is required; zero values of durations and bounds
// mean the defaults named.
type Options struct {
	Name     string            // of the upstream, for logs and errors
	Command  []string          // program, looked for in berth's own PATH, and arguments; no shell reads them
	Dir      string            // working directory; "": berth's
	Env      map[string]string // set for the process
	EnvAllow []string          // names passed on from berth's own environment; nil: DefaultEnv
	User     string            // name or uid that the process runs as; "": berth's. Another takes root

	Isolation     Isolation
	SessionPrefix string // stands before each session id; visible ASCII

	MaxProcesses int           // at a time, those that end included; 0: 64
	StartTimeout time.Duration // for the answer to initialize; 0: 60 s, for the first npx is slow
	Idle         time.Duration // after which a process is stopped that nobody uses; 0: 5 min
	MaxLife      time.Duration // after which a process takes no new session; 0: any
	Restart      time.Duration // between two starts of a command that keeps dying; 0: 30 s
	MaxLine      int           // bytes of one line of stdout; 0: 4 MiB
	MaxMemory    int64         // bytes of private writable memory of each process in the group (RLIMIT_DATA); Linux only; 0: any
	Grace        time.Duration // from SIGTERM to SIGKILL; 0: 5 s

	Logger *slog.Logger // nil: none
}

// DefaultEnv are the variables passed on where Options name none.
var DefaultEnv = []string{"HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"}

func (o Options) withDefaults() Options {
	o.MaxProcesses = or(o.MaxProcesses, 64)
	o.StartTimeout = or(o.StartTimeout, time.Minute)
	o.Idle = or(o.Idle, 5*time.Minute)
	o.Restart = or(o.Restart, 30*time.Second)
	o.MaxLine = or(o.MaxLine, 4<<20)
	o.Grace = or(o.Grace, 5*time.Second)
	if o.EnvAllow == nil {
		o.EnvAllow = DefaultEnv
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Logger = o.Logger.With("upstream", o.Name)
	return o
}

func or[T int | time.Duration](value, otherwise T) T {
	if value > 0 {
		return value
	}
	return otherwise
}

// newID returns a session's id, which nobody can guess.
func (o *Options) newID() string { return o.SessionPrefix + rand.Text() }

// process returns what a process is run by.
func (o *Options) process(t timing) process.Options {
	return process.Options{
		Command: o.Command, Dir: o.Dir, Env: o.Env, EnvAllow: o.EnvAllow, User: o.User, MaxLine: o.MaxLine, MaxMemory: o.MaxMemory,
		Ask: t.ask, Grace: o.Grace, Drain: t.drain, Stuck: t.stuck, Logger: o.Logger,
	}
}

// timing is what tests make shorter.
type timing struct {
	ask      time.Duration // from the end of stdin to SIGTERM
	drain    time.Duration // for reading what a process wrote before its end
	stuck    time.Duration // how long a process may leave a full queue unread
	quick    time.Duration // a death sooner than this after the start is a quick one
	backoff  time.Duration // before the start after a quick death; doubled by each
	kept     time.Duration // a stream after its end
	standing time.Duration // a question waits that long for a session's standing stream
	cancel   time.Duration // a cancelled call waits that long for its answer
	left     time.Duration // a call that was left, and has no answer, counts as one that may ask that long
	unread   time.Duration // a call that nobody reads, or a session that says nothing, keeps a process alive that long
	awaited  time.Duration // a task counts as waited for that long after its client last asked for it
	sweep    time.Duration // between two looks at what has become idle
	quiet    time.Duration // a process with calls in flight that says nothing for so long is asked for a sign of life
	sign     time.Duration // how long it has for that
}

func defaultTiming(idle time.Duration) timing {
	return timing{
		ask: 2 * time.Second, drain: time.Second, stuck: 30 * time.Second,
		quick: 10 * time.Second, backoff: 100 * time.Millisecond,
		kept: 5 * time.Minute, standing: 5 * time.Second, cancel: 10 * time.Second, left: 10 * time.Minute,
		unread: time.Hour, awaited: 2 * time.Minute, sweep: min(30*time.Second, max(idle/4, 10*time.Millisecond)),
		quiet: 10 * time.Second, sign: 5 * time.Second,
	}
}
