package adminapi

import (
	"log/slog"
	"slices"
	"time"

	"berth/internal/admin"
	"berth/internal/api"
	"berth/internal/bulletin"
	"berth/internal/drain"
	"berth/internal/journal"
	"berth/internal/storage"
	"berth/internal/trouble"
	"berth/proxy"
	"berth/proxy/audit"
	"berth/routing"
)

// Options are what an API tells of. None may be nil, but where that is said.
type Options struct {
	Pools      func() []*routing.Pool       // of the newest generation
	PoolConfig func(pool string) PoolConfig // of one of these
	Drains     *drain.Watch                 // says what may stop
	Reopens    func(pool string) bool       // sessions of the pool can be opened anew elsewhere

	Board    *bulletin.Board
	Store    *storage.Store
	Troubles *trouble.Book
	Limits   func() []api.Limit
	Config   func() api.Config
	Level    *journal.Level
	Log      *slog.Logger
	Ready    func() (ready bool, why []string) // as /readyz says; why not, one line each

	Decisions *audit.Decisions    // the last requests
	Proxy     func() *proxy.Proxy // of the newest generation; explains

	Work     Work
	Payloads func() bool // what tasks bear may be told; nil: it may not
}

// PoolConfig is what the configuration says of a pool.
type PoolConfig struct{ Path, Picker, SessionFailover, Discovery string }

// API answers operators. Make it with [New].
type API struct{ routes []admin.Route }

// New returns an API; it starts nothing.
func New(o Options) *API {
	f := newFleet(&o)
	parts := [][]admin.Route{
		f.routes(), (&troubles{o.Troubles}).routes(), (&settings{limits: o.Limits, config: o.Config, level: o.Level, log: o.Log}).routes(),
		(&explanations{decisions: o.Decisions, proxy: o.Proxy, pools: o.Pools, outages: outages{o.Store}}).routes(),
	}
	if o.Work.Bindings != nil {
		ts := newTasks(&o)
		qs := newQueues(&o)
		f.count, f.paused = ts.count, qs.paused
		parts = append(parts, ts.routes(), newSessions(&o).routes(), (&subscriptions{o.Work.Subscriptions, o.Pools}).routes(), qs.routes())
	}
	return &API{slices.Concat(parts...)}
}

// Routes are all of it.
func (a *API) Routes() []admin.Route { return a.routes }

// patience is how long a question waits for the store; then it is answered from what is known.
const patience = 2 * time.Second
