package proxy

import (
	"cmp"
	"log/slog"

	"berth/internal/wire"
	"berth/proxy/access"
	"berth/proxy/admission"
	"berth/proxy/announce"
	"berth/proxy/audit"
	"berth/proxy/course"
	"berth/proxy/explain"
	"berth/proxy/failover"
	"berth/proxy/inbound"
	"berth/proxy/sessiontasks"
	"berth/proxy/subscribe"
	"berth/proxy/tasklist"
	"berth/proxy/tasks"
	"berth/proxy/taskwatch"
	"berth/upgrade"
)

// Proxy serves clients in front of all pools. It does not change: one with other options follows it
// (Next).
type Proxy struct {
	options  Options
	settings inbound.Settings
	log      *slog.Logger
	audit    *audit.Reporter
	*lasting

	watching      *taskwatch.Poller
	access        *access.Checker
	sessions      *sessiontasks.Sessions
	lists         *tasklist.Lister
	subscriptions subscribe.Subscriptions
	tasks         *tasks.Face
	guide         course.Guide
	announcers    map[*inbound.Endpoint]*announce.Announcer
	keeper        func(*inbound.Call) admission.Keeper // what keeps the task that a call is to become, if it is to become one
}

// New returns a proxy for the given endpoints.
func New(o Options) *Proxy {
	p := prepare(o)
	p.lasting = newLasting(p)
	p.watch()
	p.complete(nil)
	return p
}

// Next returns the proxy that follows p with other options. It goes on with what p knows and counts, and
// bounds that as o says. Requests that p serves end there. Tasks may come with o,
// and stay from then on.
func (p *Proxy) Next(o Options) *Proxy {
	next := prepare(o)
	next.lasting = p.lasting
	next.watching, next.access = p.watching, p.access
	if o.Tasks != p.options.Tasks {
		next.watch()
	}
	next.complete(p)
	next.gate.SetLimits(next.settings.Limits)
	next.gate.Begin(o.Endpoints)
	next.stale.SetBounds(o.LastSeen.Entry, o.LastSeen.Total)
	return next
}

// prepare returns what the options alone make of a proxy.
func prepare(o Options) *Proxy {
	p := &Proxy{
		options: o,
		settings: inbound.Settings{
			Endpoints: o.Endpoints, Loopback: o.Loopback, TrustedProxies: o.TrustedProxies,
			CredentialHeaders: inbound.CountedHeaders(o.CredentialHeaders), Limits: o.Limits.WithDefaults(),
		},
		log:        o.Logger,
		announcers: make(map[*inbound.Endpoint]*announce.Announcer),
	}
	p.settings.LongestTaskID = p.settings.Limits.TaskID
	if o.Tasks != nil {
		p.settings.LongestTaskID = max(p.settings.LongestTaskID, upgrade.IDLength) // berth's own are good
	}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	p.audit = audit.New(o.Endpoints, audit.Options{Access: o.AccessLog, Logger: p.log, Meter: o.Meter, Tracer: o.Tracer, Moves: failover.Outcomes, Last: o.Decisions, Troubles: o.Troubles, Deeds: o.AuditLog})
	return p
}

// own are the tasks of berth's own making. Where there are none, they have no parts.
func (p *Proxy) own() *upgrade.Tasks { return cmp.Or(p.options.Tasks, new(upgrade.Tasks)) }

// watch makes the parts that stand on the tasks of berth's own making alone.
func (p *Proxy) watch() {
	p.watching, p.access = taskwatch.New(p.own().Reader), access.New(p.own().IDs, p.gate)
}

// complete makes the parts that stand on what lasts, and on those of the proxy before; nil: there was none.
func (p *Proxy) complete(before *Proxy) {
	o, own := p.options, p.own()
	p.subscriptions = subscribe.Subscriptions{IDs: own.IDs, Tasks: own.Reader, Steps: own.Steps, Poller: p.watching, Draining: p.end.draining, Gate: p.gate, Reporter: p.audit}
	for _, ep := range o.Endpoints {
		p.announcers[ep] = announce.New(ep.Router.Pool.Name(), o.Rules, p.log, before.announcerOf(ep.Router.Pool.Name()))
	}
	p.sessions = sessiontasks.New(own.Sessions, own.Reader, o.Rules, p.watching, p.access, p.log)
	var faceBefore *tasks.Face
	if before != nil {
		faceBefore = before.tasks
		p.sessions.Succeed(before.sessions)
	}
	p.tasks = tasks.New(tasks.Face{Tasks: o.Tasks, Rules: o.Rules, Poller: p.watching, Callers: p.access, Releasing: p.end.releasing}, faceBefore)
	p.guide = course.Guide{Tasks: p.tasks, Sessions: p.sessions, Gate: p.gate, Stale: p.stale, Report: p.audit, Log: p.log}
	p.lists = tasklist.New(own.Reader, o.Rules, o.Keys)
	p.keeper = func(c *inbound.Call) admission.Keeper {
		if p.tasks.Upgradable(c) || p.tasks.AsksTask(c) {
			return own.Use
		}
		return nil
	}
}

// announcerOf is that of a pool, nil if it has none.
func (p *Proxy) announcerOf(pool string) *announce.Announcer {
	if p == nil {
		return nil
	}
	for ep, a := range p.announcers {
		if ep.Router.Pool.Name() == pool {
			return a
		}
	}
	return nil
}

// Serve serves one request of a client. If the answer is not whole, its connection must be
// closed: whoever carries it must neither make one up, nor end one that has begun.
func (p *Proxy) Serve(w wire.Client, r *wire.Request) (whole bool) {
	return p.ServeUntil(w, r, func() {})
}

// ServeUntil is Serve that calls over when the request is: by then Serve has returned, or the client
// was held.
func (p *Proxy) ServeUntil(w wire.Client, r *wire.Request, over func()) (whole bool) {
	p.end.serving.Add(1)
	held := false
	defer func() {
		if !held {
			p.end.serving.Add(-1)
			over()
		}
	}()
	x := servings.Get().(*serving)
	x.begin(p, w, r)
	x.over = over
	if held = x.serveAndReport(); held {
		return true
	}
	whole = !x.aborted
	if x.mayBeUsedAgain() {
		x.end()
		servings.Put(x)
	}
	return whole
}

// Explainer is what says where requests would go, and why.
func (p *Proxy) Explainer() explain.Explainer {
	return explain.Explainer{Guide: &p.guide, Settings: &p.settings, Own: p.options.Tasks, Access: p.access, Keeper: p.keeper}
}

// Shedding says that berth has no room for all that it is asked to do, "" if it has.
func (p *Proxy) Shedding() string { return p.gate.Shedding() }
