package webhooks

import (
	"context"
	"log/slog"
	"maps"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/webhook"
	"berth/upgrade/ledger"
	"berth/upgrade/task"

	"go.opentelemetry.io/otel/metric"
)

// Receiver is who is told, how, and for how long it is tried.
type Receiver struct {
	Name string // that rules, metrics and logs know it by
	webhook.Receiver

	Attempts   int           // at most, for each message
	Backoff    time.Duration // after the first one that fails; doubled with each further one
	MaxBackoff time.Duration // the longest, unless the receiver asks for more
	MaxAge     time.Duration // of what a message tells
}

// is reports whether another receiver is told in the same way.
func (r Receiver) is(other Receiver) bool {
	if r.Trust != other.Trust { // which is in use, and changes within
		return false
	}
	r.Trust, other.Trust = nil, nil
	return reflect.DeepEqual(r, other)
}

// sender is a *webhook.Client.
type sender interface {
	Turn() (webhook.Turn, error)
	Send(context.Context, webhook.Message) webhook.Answer
	Close()
}

// Webhooks tell receivers. Run them.
type Webhooks struct {
	connect  func(webhook.Receiver, func(alone bool)) sender
	ledger   *ledger.Ledger
	log      *slog.Logger
	metrics  metrics
	overflow overflow
	couriers atomic.Pointer[map[string]*courier] // by receiver; what it points to does not change
	changed  chan struct{}                       // holds one: couriers are others than before

	mu sync.Mutex // held while couriers are changed
}

// New returns what tells receivers of the tasks in a ledger.
func New(l *ledger.Ledger, receivers []Receiver, log *slog.Logger, meter metric.MeterProvider) *Webhooks {
	connect := func(r webhook.Receiver, changed func(bool)) sender { return webhook.NewClient(r, changed) }
	return newWebhooks(connect, l, receivers, log, meter)
}

func newWebhooks(connect func(webhook.Receiver, func(bool)) sender, l *ledger.Ledger, receivers []Receiver, log *slog.Logger, meter metric.MeterProvider) *Webhooks {
	w := &Webhooks{connect: connect, ledger: l, log: log, changed: make(chan struct{}, 1)}
	w.couriers.Store(&map[string]*courier{})
	w.metrics = newMetrics(meter, w)
	w.Change(receivers)
	l.Outbox.Due, l.Outbox.Full = w.due, w.full
	return w
}

// Change has these be the receivers. One that stays as it is goes on; of one that is named no more it is watched what becomes of its
// messages.
func (w *Webhooks) Change(receivers []Receiver) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, next := *w.couriers.Load(), map[string]*courier{}
	for _, r := range receivers {
		if c := before[r.Name]; c != nil && !c.isUnnamed() && c.Receiver.is(r) {
			next[r.Name] = c
			continue
		}
		next[r.Name] = w.newCourier(r)
		w.metrics.begin(r.Name)
	}
	for name, c := range before {
		if next[name] != nil {
			continue
		}
		if next[name] = c; !c.isUnnamed() {
			next[name] = w.newUnnamed(c.Receiver)
		}
	}
	w.couriers.Store(&next)
	ledger.Signal(w.changed)
}

// recallEvery is how often the store is asked for the names of receivers that only other berths know or knew.
const recallEvery = time.Hour

// recall has it be watched what becomes of the messages of receivers that only other berths know or knew. It reports whether the
// store could say which there are.
func (w *Webhooks) recall(ctx context.Context) bool {
	names, err := w.ledger.Outbox.Receivers(ctx)
	if err != nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	before := *w.couriers.Load()
	next := maps.Clone(before)
	for _, name := range names {
		if next[name] == nil {
			next[name] = w.newUnnamed(Receiver{Name: name, Receiver: webhook.Receiver{Concurrency: 1}})
		}
	}
	if len(next) > len(before) {
		w.couriers.Store(&next)
		ledger.Signal(w.changed)
	}
	return true
}

// due is told of a message whose step is stored. Of a receiver that this berth does not know another
// one may.
func (w *Webhooks) due(m task.Message) {
	if c := (*w.couriers.Load())[m.To]; c != nil {
		c.tell(m)
	}
}

func (w *Webhooks) full(m task.Message) {
	w.metrics.dropped(m.To, reasonFull)
	w.overflow.add(w.log, m)
}

// Run tells the receivers that there are, until ctx ends; then it waits a moment for what is under way.
func (w *Webhooks) Run(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	stops := map[*courier]context.CancelFunc{}
	recall := time.After(0)
	for {
		now := map[*courier]bool{}
		for _, c := range *w.couriers.Load() {
			now[c] = true
			if stops[c] == nil {
				at, stop := context.WithCancel(ctx)
				stops[c] = stop
				all.Go(func() { c.run(at) })
			}
		}
		for c, stop := range stops {
			if !now[c] {
				stop()
				delete(stops, c)
			}
		}
		select {
		case <-ctx.Done():
			for _, stop := range stops {
				stop()
			}
			return
		case <-recall:
			again := recallEvery
			if !w.recall(ctx) {
				again = w.ledger.Epoch.Beat()
			}
			recall = time.After(again)
		case <-w.changed:
		}
	}
}
