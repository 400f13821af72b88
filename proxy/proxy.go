package proxy

import (
	"log/slog"
	"net/netip"
	"sync/atomic"

	"berth/internal/seal"
	"berth/internal/wire"
	"berth/proxy/access"
	"berth/proxy/admission"
	"berth/proxy/announce"
	"berth/proxy/audit"
	"berth/proxy/draft"
	"berth/proxy/failover"
	"berth/proxy/inbound"
	"berth/proxy/polls"
	"berth/proxy/record"
	"berth/proxy/reply"
	"berth/proxy/sessiontasks"
	"berth/proxy/subscribe"
	"berth/proxy/tasklist"
	"berth/proxy/tasks"
	"berth/proxy/taskwatch"
	"berth/upgrade"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// Options are what a Proxy is made of.
type Options struct {
	Endpoints      []*inbound.Endpoint // where several fit a request equally well, the first gets it
	Loopback       bool                // the listener is on loopback: only loopback hosts and origins are welcome
	TrustedProxies []netip.Prefix      // peers whose forwarding and principal headers are believed
	// CredentialHeaders are headers that callers authenticate with, beside those that are
	// known to be.
	CredentialHeaders []string
	Limits            inbound.Limits
	Tasks             *upgrade.Tasks       // the tasks of berth's own making; nil: calls stay plain
	Stale             *polls.StaleCache    // nil: one with default bounds
	Rules             upgrade.Rules        // which tools' calls become tasks; none: no tool's
	Keys              *seal.Keyring        // seals what clients carry; required where tasks are listed over a pool
	Logger            *slog.Logger         // nil: discarded
	AccessLog         *slog.Logger         // nil: no access records
	Meter             metric.MeterProvider // nil: nothing is measured
	Tracer            trace.TracerProvider // nil: nothing is traced
}

// Proxy serves clients in front of all pools; by net/http it is an http.Handler.
type Proxy struct {
	options       Options
	table         inbound.Table
	stale         *polls.StaleCache
	log           *slog.Logger
	audit         *audit.Reporter
	gate          *admission.Gate
	end           *end
	lingering     atomic.Int64 // exchanges read on without a client
	mover         failover.Mover
	polls         *polls.Shared
	access        *access.Checker
	lists         *tasklist.Lister
	watching      *taskwatch.Poller
	subscriptions subscribe.Subscriptions
	sessions      *sessiontasks.Sessions
	tasks         *tasks.Face
	learned       map[*inbound.Endpoint]*learned
	keeper        func(*inbound.Call) admission.Keeper // what keeps the task that a call is to become, if it is to become one
}

// learned is what berth knows of a pool while it serves.
type learned struct {
	announcer *announce.Announcer
}

// New returns a proxy for the given endpoints.
func New(o Options) *Proxy {
	p := &Proxy{
		options: o,
		table: inbound.Table{
			Endpoints: o.Endpoints, Loopback: o.Loopback, TrustedProxies: o.TrustedProxies,
			CredentialHeaders: inbound.CountedHeaders(o.CredentialHeaders), Limits: o.Limits.WithDefaults(),
		},
		stale:    o.Stale,
		log:      o.Logger,
		end:      newEnd(),
		learned:  make(map[*inbound.Endpoint]*learned),
		watching: taskwatch.New(o.Tasks),
	}
	p.table.LongestTaskID = p.table.Limits.TaskID
	if o.Tasks != nil {
		p.table.LongestTaskID = max(p.table.LongestTaskID, upgrade.IDLength) // berth's own are good
	}
	if p.stale == nil {
		p.stale = polls.NewStaleCache(0, 0)
	}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	p.gate = admission.New(p.table.Limits, o.Meter, p.log)
	p.audit = audit.New(o.Endpoints, audit.Options{Access: o.AccessLog, Logger: p.log, Meter: o.Meter, Tracer: o.Tracer, Moves: failover.Outcomes})
	p.mover.Count = p.audit.Moved
	p.polls = polls.NewShared(p.log)
	p.subscriptions = subscribe.Subscriptions{Tasks: o.Tasks, Poller: p.watching, Draining: p.end.draining, Gate: p.gate, Reporter: p.audit}
	for _, ep := range o.Endpoints {
		p.learned[ep] = &learned{announcer: announce.New(ep.Router.Pool.Name(), o.Rules, p.log)}
	}
	p.access = access.New(o.Tasks, p.gate)
	p.tasks = &tasks.Face{Tasks: o.Tasks, Rules: o.Rules, Poller: p.watching, Callers: p.access, Releasing: p.end.releasing}
	p.sessions = sessiontasks.New(o.Tasks, o.Rules, p.watching, p.access, p.log)
	p.lists = tasklist.New(o.Tasks, o.Rules, o.Keys, p.gate)
	p.keeper = func(c *inbound.Call) admission.Keeper {
		if p.tasks.Upgradable(c) || p.tasks.AsksTask(c) {
			return o.Tasks
		}
		return nil
	}
	return p
}

// Serve serves one request of a client. If the answer is not whole, its connection must be
// closed: whoever carries it must neither make one up, nor end one that has begun.
func (p *Proxy) Serve(w wire.Client, r *wire.Request) (whole bool) {
	p.end.serving.Add(1)
	defer p.end.serving.Add(-1)
	x := &struct { // in one allocation
		request
		call   inbound.Call
		answer reply.Writer
	}{
		call:   inbound.Call{HTTP: r, Table: &p.table},
		answer: reply.Writer{Client: w, Stall: p.table.Limits.WriteStall, Most: p.table.Limits.Answer, Draining: p.end.draining},
	}
	x.request = request{p: p, Call: &x.call, out: &x.answer, rec: p.audit.Begin(&x.call), made: draft.Tasks{Call: &x.call, At: &x.decision}}
	x.recorder = record.Recorder{Call: &x.call, At: &x.decision, Stale: p.stale, Sessions: p.sessions}
	x.serveAndReport()
	return !x.aborted
}

// Shedding says that berth has no room for all that it is asked to do, "" if it has.
func (p *Proxy) Shedding() string { return p.gate.Shedding() }
