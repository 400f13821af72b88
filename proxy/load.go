package proxy

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"berth/internal/limit"
	"berth/internal/mcp"
	"berth/internal/series"
	"berth/proxy/fault"
	"berth/proxy/inbound"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
)

// Why a request was turned away: the label of berth.shed.
const (
	shedInFlight      = "in_flight"      // too many calls under way
	shedReserve       = "reserve"        // what is left is for work that has begun
	shedMemory        = "memory"         // near the process's memory limit
	shedBuffered      = "buffered"       // too many bytes of bodies
	shedStreams       = "streams"        // too many standing streams
	shedCallerStreams = "caller_streams" // too many of this caller
	shedCallerCalls   = "caller_calls"   // too many calls of this caller under way
	shedConnections   = "connections"    // no file descriptor or port for one to an upstream
	shedLists         = "lists"          // too many lists of tasks being made
	shedPolls         = "polls"          // this caller polls too often
	shedKept          = "kept"           // near the process's memory limit, and this caller's tasks fill it
	shedUnknownIDs    = "unknown_ids"    // this caller names too many ids that nobody knows
)

const (
	// reserve is the share of the calls under way, as a divisor, that is kept for
	// calls about tasks and sessions: those who wait for work that has begun should
	// not be turned away by a flood of new work.
	reserve = 10

	// perCaller is the share of the memory for bodies, as a divisor, that one caller
	// may hold: some slow callers must not be able to starve all others.
	perCaller = 2

	// ofMemory is the share of the process's memory limit, as a divisor, that bodies
	// may take at most.
	ofMemory = 4

	// relieved is how long nothing was shed when shedding counts as over.
	relieved = 10 * time.Second
)

// load knows how much is under way and turns away what is too much. It holds no
// queue: what is given back can be taken at once.
type load struct {
	inFlight int64 // at most
	calls    *limit.Gauge
	bodies   *limit.Gauge
	streams  *limit.Gauge
	memory   *limit.Memory
	polls    *limit.Buckets
	unknown  *limit.Buckets

	log      *slog.Logger
	counter  metric.Int64Counter
	lastShed atomic.Int64 // when the process last had no room, in nanoseconds since the epoch
	shedding atomic.Bool  // said so in the log
}

func newLoad(l inbound.Limits, meters metric.MeterProvider, log *slog.Logger) *load {
	memory := limit.NewMemory()
	buffered := l.Buffered
	if most := memory.Limit(); most > 0 {
		buffered = min(buffered, max(most/ofMemory, perCaller*l.Body))
	}
	d := &load{
		inFlight: int64(l.InFlight),
		calls:    limit.NewGauge(int64(l.InFlight), int64(l.InFlightPerCaller)),
		bodies:   limit.NewGauge(buffered, buffered/perCaller),
		streams:  limit.NewGauge(int64(l.Streams), int64(l.StreamsPerCaller)),
		memory:   memory,
		polls:    limit.NewBuckets(l.Polls),
		unknown:  limit.NewBuckets(l.UnknownIDs),
		log:      log,
	}
	d.measure(meters)
	return d
}

func (d *load) measure(meters metric.MeterProvider) {
	if meters == nil {
		meters = noop.NewMeterProvider()
	}
	meter := meters.Meter("berth/proxy")
	// Creating an instrument fails on a malformed name only.
	d.counter, _ = meter.Int64Counter("berth.shed", metric.WithDescription("Requests turned away because there was no room, or because their caller takes too much."))
	series.Begin(d.counter, series.Of("reason", shedInFlight, shedReserve, shedMemory, shedBuffered, shedStreams, shedCallerStreams, shedCallerCalls,
		shedConnections, shedLists, shedPolls, shedKept, shedUnknownIDs))
	for name, gauge := range map[string]*limit.Gauge{"berth.calls.open": d.calls, "berth.streams.open": d.streams, "berth.bodies.bytes": d.bodies} {
		_, _ = meter.Int64ObservableGauge(name,
			metric.WithDescription("What is held at present, of what limits bound."),
			metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
				o.Observe(gauge.Held())
				return nil
			}))
	}
}

// full turns a request away because the process has no room for it.
func (d *load) full(why string) error {
	d.shed(why)
	return fault.Overloaded
}

// shed notes that the process has no room for a request.
func (d *load) shed(why string) {
	d.count(why)
	d.lastShed.Store(time.Now().UnixNano())
	if d.shedding.CompareAndSwap(false, true) {
		d.log.Warn("load is shed", "reason", why)
	}
}

// tooMuch turns a request away because its caller takes too much. wait is after how
// long it may try again.
func (d *load) tooMuch(why string, e *mcp.Error, wait time.Duration) error {
	d.count(why)
	refusal := *e
	refusal.RetryAfter = wait
	return &refusal
}

func (d *load) count(why string) {
	d.counter.Add(context.Background(), 1, metric.WithAttributes(attribute.String("reason", why)))
}

// admitted notes that a request was let in: shedding may be over.
func (d *load) admitted() {
	if d.shedding.Load() && time.Since(d.shedLast()) > relieved && d.shedding.CompareAndSwap(true, false) {
		d.log.Info("load is not shed any more")
	}
}

func (d *load) shedLast() time.Time { return time.Unix(0, d.lastShed.Load()) }

// Shedding says that berth has no room for all that it is asked to do, "" if it has.
func (p *Proxy) Shedding() string {
	last := p.load.shedLast()
	if time.Since(last) > relieved {
		return ""
	}
	return fmt.Sprintf("load was shed at %s: %d calls and %d streams are open", last.UTC().Format("15:04:05Z"), p.load.calls.Held(), p.load.streams.Held())
}
