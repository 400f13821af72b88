package admission

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"berth/internal/limit"
	"berth/internal/series"
	"berth/proxy/fault"
	"berth/proxy/inbound"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
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

	// keptFills is the share of the memory limit, as a divisor, from which on it is what
	// tasks keep that fills the memory.
	keptFills = 8

	// relieved is how long nothing was shed when shedding counts as over.
	relieved = 10 * time.Second
)

// Gate knows how much is under way and turns away what is too much. Its methods may be called
// concurrently.
type Gate struct {
	inFlight atomic.Int64 // at most
	calls    *limit.Gauge
	bodies   *limit.Gauge
	streams  *limit.Gauge
	memory   *limit.Memory
	polls    atomic.Pointer[limit.Buckets] // nil bounds nothing
	unknown  atomic.Pointer[limit.Buckets] // the same
	rates    *rates

	log      *slog.Logger
	turned   *series.Kept[string, series.Count] // away, by reason
	refused  series.Tally                       // the same, by reason
	began    time.Time                          // when the gate did
	lastShed atomic.Int64                       // when the process last had no room, in nanoseconds since then
	shedding atomic.Bool                        // said so in the log; a timer ends it
}

// New returns the gate of a process. The limits have their defaults; without meters nothing is
// measured.
func New(l inbound.Limits, meters metric.MeterProvider, log *slog.Logger) *Gate {
	g := &Gate{
		calls:   limit.NewGauge(0, 0),
		bodies:  limit.NewGauge(0, 0),
		streams: limit.NewGauge(0, 0),
		memory:  limit.NewMemory(),
		log:     log,
		began:   time.Now(),
	}
	g.lastShed.Store(-int64(2 * relieved)) // it always had
	g.SetLimits(l)
	g.measure(series.Meter(meters, "berth/proxy"))
	return g
}

// SetLimits changes the limits. What requests hold still counts; it may be more than they may hold from
// now on. Callers keep what is left of a rate that stays.
func (g *Gate) SetLimits(l inbound.Limits) {
	buffered := l.Buffered
	if most := g.memory.Limit(); most > 0 {
		buffered = min(buffered, max(most/ofMemory, perCaller*l.Body))
	}
	g.inFlight.Store(int64(l.InFlight))
	g.calls.SetBounds(int64(l.InFlight), int64(l.InFlightPerCaller))
	g.bodies.SetBounds(buffered, buffered/perCaller)
	g.streams.SetBounds(int64(l.Streams), int64(l.StreamsPerCaller))
	g.polls.Store(g.polls.Load().With(l.Polls))
	g.unknown.Store(g.unknown.Load().With(l.UnknownIDs))
}

// measure makes the instruments, which fails on a malformed name only.
func (g *Gate) measure(meter metric.Meter) {
	counter, _ := meter.Int64Counter("berth.shed", metric.WithDescription("Requests turned away: no room (503), or their caller takes too much (429)."))
	g.rates = newRates(meter)
	series.Begin(counter, series.Of("reason", reasons...))
	g.turned = series.KeepCounts(counter, func(why string) []attribute.KeyValue { return []attribute.KeyValue{attribute.String("reason", why)} })
	series.Gauge(meter, "berth.calls.open", "Calls under way, of limits.in_flight.", "", g.calls.Held)
	series.Gauge(meter, "berth.streams.open", "Streams that stand, of limits.streams.", "", g.streams.Held)
	series.Gauge(meter, "berth.bodies.bytes", "Memory that request bodies hold, of limits.buffered.", "", g.bodies.Held)
}

// Admit turns a request away if there is no room for one more: before anybody looks
// who calls, and before its body is read.
func (g *Gate) Admit(call *inbound.Call) error {
	if why := g.keepsOut(call); why != "" {
		return g.full(why)
	}
	return nil
}

// keepsOut is why there is no room for one more; "": there is.
func (g *Gate) keepsOut(call *inbound.Call) string {
	switch {
	case g.memory.Short() && (g.memory.Out() || !call.IsSmall()):
		return shedMemory
	case g.calls.Held() >= g.inFlight.Load():
		return shedInFlight
	}
	return ""
}

// SpareReserve turns a call away if what room there is is kept for work that has
// begun, and it is not about such.
func (g *Gate) SpareReserve(call *inbound.Call) error {
	if g.isReserved(call, g.calls.Held()) {
		return g.full(shedReserve)
	}
	return nil
}

// isReserved reports whether what room there is is not for the call, where so many are under way with it.
func (g *Gate) isReserved(call *inbound.Call, held int64) bool {
	most := g.inFlight.Load()
	return !call.ConcernsBegun && held > most-most/reserve
}

// TurnAwaySession turns an initialize away whose caller has no room for one more session.
func (g *Gate) TurnAwaySession() error {
	return g.tooMuch(shedSessions, fault.TooManySessions, fault.RetryKept)
}

// Streams is how many streams stand.
func (g *Gate) Streams() int64 { return g.streams.Held() }

// IsShort reports whether memory is short.
func (g *Gate) IsShort() bool { return g.memory.Short() }

// Shedding says that berth has no room for all that it is asked to do, "" if it has.
func (g *Gate) Shedding() string {
	last := g.shedLast()
	if time.Since(last) > relieved {
		return ""
	}
	return fmt.Sprintf("load was shed at %s: %d calls and %d streams are open", last.UTC().Format("15:04:05Z"), g.calls.Held(), g.streams.Held())
}

// Use is what is held of the limits at present.
type Use struct {
	Calls, Streams int64
	Bodies         int64 // bytes
}

// Use tells what is held.
func (g *Gate) Use() Use { return Use{g.calls.Held(), g.streams.Held(), g.bodies.Held()} }

// Refused is how many requests were turned away for want of what a limit bounds; the words are those of
// berth.shed.
func (g *Gate) Refused(why ...string) int64 { return g.refused.Of(why...) }

// RefusedBy is how many a rule about tools has turned away.
func (g *Gate) RefusedBy(rule string) int64 { return g.rates.refused.Of(rule) }
