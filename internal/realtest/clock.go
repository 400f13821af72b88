package realtest

import (
	"time"
	"unsafe"
)

// SetBack is t, which was looked up and not computed, as it would have been looked up before the machine's clock was set on by d; of a clock
// that was set back d is negative.
func SetBack(t time.Time, d time.Duration) time.Time {
	own := (*struct{ wall uint64 })(unsafe.Pointer(&t)) // seconds above 30 bits of nanoseconds, where it has a monotonic time
	own.wall += uint64(-d/time.Second) << 30
	return t
}
