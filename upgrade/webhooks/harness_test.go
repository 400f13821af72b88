package webhooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/seal"
	"berth/internal/storage"
	"berth/internal/webhook"
	"berth/upgrade/ledger"
	"berth/upgrade/quota"
	"berth/upgrade/task"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// shared is a store in memory that says others see it, too, as berths of one test do.
type shared struct{ *storage.Store }

func (shared) Shared() bool { return true }

// post is one message as a receiver got it.
type post struct {
	at   time.Duration // since the test began
	id   string
	body payload
}

// receiver is one that answers as the test says, in order; then it takes everything.
type receiver struct {
	began    time.Time
	patience bool // it is left alone after failures in a row

	mu      sync.Mutex // guards the fields below
	answers []func(context.Context) webhook.Answer
	posts   []post
}

func (r *receiver) Send(ctx context.Context, m webhook.Message) webhook.Answer {
	r.mu.Lock()
	var body payload
	_ = json.Unmarshal(m.Body, &body)
	r.posts = append(r.posts, post{time.Since(r.began), m.ID, body})
	answer := func(context.Context) webhook.Answer { return webhook.Answer{Outcome: webhook.Delivered} }
	if len(r.answers) > 0 {
		answer, r.answers = r.answers[0], r.answers[1:]
	}
	r.mu.Unlock()
	return answer(ctx)
}

func (r *receiver) Turn() (webhook.Turn, error) { return func(*webhook.Answer) {}, nil }
func (r *receiver) Close()                      {}

// guarded sends to a receiver that is left alone after failures in a row.
type guarded struct {
	*webhook.Client
	to *receiver
}

func (g guarded) Send(ctx context.Context, m webhook.Message) webhook.Answer {
	return g.to.Send(ctx, m)
}

// takeAll has it take everything from now on.
func (r *receiver) takeAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers = nil
}

// got is what came so far.
func (r *receiver) got() []post {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.posts)
}

// types are the types of what came so far.
func (r *receiver) types() string {
	var types []string
	for _, p := range r.got() {
		types = append(types, p.body.Type)
	}
	return strings.Join(types, " ")
}

// refusing answers n messages with one outcome.
func refusing(n int, a webhook.Answer) []func(context.Context) webhook.Answer {
	a.Err = errors.New("refused by the test")
	return slices.Repeat([]func(context.Context) webhook.Answer{func(context.Context) webhook.Answer { return a }}, n)
}

// hanging answers when the attempt is cut.
func hanging(ctx context.Context) webhook.Answer {
	<-ctx.Done()
	return webhook.Answer{Outcome: webhook.Unreachable, Err: ctx.Err()}
}

// berth is one process of a deployment, as far as webhooks go.
type berth struct {
	*Webhooks
	ledger *ledger.Ledger
	log    *bytes.Buffer // to be read when nothing runs
	reader *sdkmetric.ManualReader
	stop   context.CancelFunc
	over   chan struct{}
}

func settings(change func(r *Receiver)) Receiver {
	r := Receiver{Name: "ci", Attempts: 5, Backoff: 10 * time.Second, MaxBackoff: time.Minute, MaxAge: 30 * time.Minute}
	r.Timeout, r.Concurrency, r.Alone = 5*time.Second, 2, 10*time.Second
	if change != nil {
		change(&r)
	}
	return r
}

// start starts a berth whose messages go to r, on a store.
func start(t *testing.T, s ledger.Store, r *receiver, known ...Receiver) *berth {
	t.Helper()
	keys, err := seal.NewKeyring(make([]byte, seal.MinSecret))
	if err != nil {
		t.Fatal(err)
	}
	b := &berth{ledger: ledger.New(s, "", keys, 3*time.Second, quota.Bounds{}), log: &bytes.Buffer{}, reader: sdkmetric.NewManualReader(), over: make(chan struct{})}
	connect := func(of webhook.Receiver, changed func(bool)) sender {
		if r.patience {
			return guarded{webhook.NewClient(of, changed), r}
		}
		return r
	}
	b.Webhooks = newWebhooks(connect, b.ledger, known, slog.New(slog.NewTextHandler(b.log, nil)), sdkmetric.NewMeterProvider(sdkmetric.WithReader(b.reader)))
	ctx, stop := context.WithCancel(t.Context())
	b.stop = stop
	go func() {
		defer close(b.over)
		b.Run(ctx)
	}()
	t.Cleanup(b.end)
	return b
}

// end ends the berth, as a process ends.
func (b *berth) end() {
	b.stop()
	<-b.over
}

// make stores a task whose ends are told to receiver "ci", and which this berth holds.
func (b *berth) make(t *testing.T, id string, on ...task.News) ledger.Entry {
	t.Helper()
	if err := b.ledger.Clock.Known(t.Context()); err != nil {
		t.Fatal(err)
	}
	now := b.ledger.Clock.Now()
	terms := task.Terms{TTL: time.Hour}
	if len(on) > 0 {
		terms.Webhooks = []task.Webhook{{Name: "ci", Events: on}}
	}
	e, err := b.ledger.Records.Create(t.Context(), &task.Task{
		ID: id, Pool: "main", Tool: "work", Principal: "alice", State: task.Accepted, Created: now, Updated: now, Holder: b.ledger.Holder, Terms: terms,
	}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// step takes a step of a task.
func (b *berth) step(t *testing.T, e ledger.Entry, kind task.Kind, change func(op *task.Op)) ledger.Entry {
	t.Helper()
	op := b.ledger.Op(kind)
	if change != nil {
		change(op)
	}
	after, err := b.ledger.Records.Apply(t.Context(), e, op)
	if err != nil {
		t.Fatal(err)
	}
	return after
}

// complete has a task end with a result.
func (b *berth) complete(t *testing.T, e ledger.Entry) ledger.Entry {
	t.Helper()
	e = b.step(t, e, task.Dispatch, nil)
	return b.step(t, e, task.Finish, func(op *task.Op) { op.End, op.Round = task.Completed, 1 })
}

// left are the messages that stand in the store.
func (b *berth) left(t *testing.T) int {
	t.Helper()
	told, err := b.ledger.Outbox.Of(t.Context(), "ci")
	if err != nil {
		t.Fatal(err)
	}
	return len(told)
}

// value adds up a metric's points that have a label's value; "" is any.
func (b *berth) value(t *testing.T, name, label string) (sum int64) {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := b.reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	add := func(points []metricdata.DataPoint[int64]) {
		for _, p := range points {
			for _, at := range p.Attributes.ToSlice() {
				if at.Value.AsString() == label {
					sum += p.Value
				}
			}
		}
	}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			if m.Name != name {
				continue
			}
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				add(data.DataPoints)
			case metricdata.Gauge[int64]:
				add(data.DataPoints)
			}
		}
	}
	return sum
}

// world runs a test in a bubble, with a store that berths share and a receiver.
func world(t *testing.T, run func(t *testing.T, s ledger.Store, r *receiver)) {
	synctest.Test(t, func(t *testing.T) {
		store, err := storage.Open("memory:", storage.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		run(t, shared{store}, &receiver{began: time.Now()})
	})
}
