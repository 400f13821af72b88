package doors

import (
	"context"
	"log/slog"
	"net/netip"
	"sync/atomic"
	"time"

	"berth/internal/series"
	"berth/internal/wire"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// BadHeads are requests that HTTP itself refuses: nobody can say what they ask for. Each is counted, and one now and then has a line in the
// access log, which says how many had none since the one before.
type BadHeads struct {
	access            func() *slog.Logger // as it is now; nil: there is none
	malformed, larger series.Count

	began  time.Time
	next   atomic.Int64 // when another line may be written, in nanoseconds since began
	unsaid atomic.Int64
}

// badHeadsApart is how far apart their lines are at least.
const badHeadsApart = 100 * time.Millisecond

// NewBadHeads returns what notes them. access is the access log as it is now, nil if there is none.
func NewBadHeads(provider metric.MeterProvider, access func() *slog.Logger) *BadHeads {
	meter := series.Meter(provider, "berth/http")
	// Creating an instrument fails on a malformed name only.
	refused, _ := meter.Int64Counter("berth.http.refused", metric.WithDescription("Requests that HTTP itself refuses, before anybody knows what they ask for: malformed (400), or with too large a header (431)."))
	series.Begin(refused, series.Of("status", "400", "431"))
	return &BadHeads{
		access: access, began: time.Now(), malformed: series.CountOf(refused, attribute.String("status", "400")), larger: series.CountOf(refused, attribute.String("status", "431")),
	}
}

// Refused notes one.
func (b *BadHeads) Refused(peer string, status int, why error) {
	if status == wire.StatusRequestHeaderFieldsTooLarge {
		b.larger.Add(1)
	} else {
		b.malformed.Add(1)
	}
	log := b.access()
	if log == nil {
		return
	}
	now, next := time.Since(b.began), b.next.Load()
	if int64(now) < next || !b.next.CompareAndSwap(next, int64(now+badHeadsApart)) {
		b.unsaid.Add(1)
		return
	}
	from := peer
	if at, err := netip.ParseAddrPort(peer); err == nil {
		from = at.Addr().Unmap().String()
	}
	attrs := []slog.Attr{slog.Int("status", status), slog.String("outcome", "refused"), slog.String("client", from), slog.String("error", why.Error())}
	if n := b.unsaid.Swap(0); n > 0 {
		attrs = append(attrs, slog.Int64("unsaid", n))
	}
	log.LogAttrs(context.Background(), slog.LevelInfo, "request", attrs...)
}
