package engine

import "time"

// Milliseconds rounds up: a short life must not become an endless one.
func Milliseconds(ttl time.Duration) int64 {
	if ttl <= 0 {
		return 0
	}
	return int64((ttl-1)/time.Millisecond) + 1
}
