package upgrade

import (
	"sync/atomic"
	"time"
)

// maxUnstored bounds the outcomes in memory that the store has not taken, in bytes.
const maxUnstored = 256 << 20

// unstoredBytes are counted while they wait.
type unstoredBytes struct{ n atomic.Int64 }

// take counts n more bytes, and reports whether there is room for them. One outcome alone
// may be of any size.
func (u *unstoredBytes) take(n int64) bool {
	if all := u.n.Add(n); all > maxUnstored && all > n {
		u.n.Add(-n)
		return false
	}
	return true
}

func (u *unstoredBytes) give(n int64) { u.n.Add(-n) }

// makeRoom counts size bytes of an outcome. While the store is well those before it are on
// their way, and it waits for them until end; it reports false if there is no room and none
// to come.
func (t *Tasks) makeRoom(size int64, end time.Time) bool {
	for !t.unkept.take(size) {
		if !t.store.Health().Healthy || time.Now().After(end) {
			return false
		}
		time.Sleep(retryStore)
	}
	return true
}
