package limit

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

const (
	enough      = 0.85                  // the share of the memory limit from which on the process has too much that it cannot give up
	tooMuch     = 0.95                  // the share from which on nothing more can be taken on, however little
	sampleEvery = 20 * time.Millisecond // how long a sample of the memory is good for. One takes some microseconds.
)

// The parts of the process's memory, as package runtime/metrics names them.
const (
	mapped   = "/memory/classes/total:bytes"
	released = "/memory/classes/heap/released:bytes"
	free     = "/memory/classes/heap/free:bytes"
	unused   = "/memory/classes/heap/unused:bytes"
	objects  = "/memory/classes/heap/objects:bytes"
	live     = "/gc/heap/live:bytes"
)

// Memory tells when the process comes near its memory limit (GOMEMLIMIT). That
// limit is soft: the runtime collects harder and harder and then exceeds it, and
// whoever enforces a hard one kills the process. What counts is what a collection
// would leave: garbage may fill the limit to the brim and does no harm.
//
// The zero value is not for use; a nil *Memory is never short.
type Memory struct {
	limit   uint64
	share   func() float64 // of the limit, that cannot be given up
	began   time.Time      // when the watch did
	sampled atomic.Int64   // when the last sample was taken, in nanoseconds since then
	short   atomic.Bool
	out     atomic.Bool
}

// NewMemory returns the watch over the process's memory; nil if it has no limit.
func NewMemory() *Memory {
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		return nil
	}
	m := NewMemoryOf(limit, nil)
	m.share = m.sample
	return m
}

// NewMemoryOf returns the watch over a memory of which share tells what part cannot be given up.
func NewMemoryOf(limit int64, share func() float64) *Memory {
	m := &Memory{limit: uint64(limit), share: share, began: time.Now()}
	m.sampled.Store(-int64(sampleEvery))
	return m
}

// Limit is the memory limit in bytes; 0 if there is none.
func (m *Memory) Limit() int64 {
	if m == nil {
		return 0
	}
	return int64(m.limit)
}

// Short reports whether the process has too little memory left to take on more.
func (m *Memory) Short() bool {
	if m == nil {
		return false
	}
	now, last := int64(time.Since(m.began)), m.sampled.Load()
	if now-last >= int64(sampleEvery) && m.sampled.CompareAndSwap(last, now) {
		share := m.share()
		m.short.Store(share > enough)
		m.out.Store(share > tooMuch)
	}
	return m.short.Load()
}

// Out reports whether the process has no memory left for what costs little, either.
func (m *Memory) Out() bool { return m.Short() && m.out.Load() }

// sample is the heap that the last collection left, and what is no heap. What was allocated since
// is judged by the next collection, which comes before it exceeds the limit by much.
func (m *Memory) sample() float64 {
	samples := []metrics.Sample{{Name: mapped}, {Name: released}, {Name: free}, {Name: unused}, {Name: objects}, {Name: live}}
	metrics.Read(samples)
	value := func(i int) uint64 { return samples[i].Value.Uint64() }
	held := value(0) - value(1)
	rest := held - min(held, value(2)+value(3)+value(4))
	return float64(rest+value(5)) / float64(m.limit)
}
