package renewal

import "time"

// Watch is one record as somebody looks at it again and again. The zero value has not been looked at. It is one goroutine's at a time, and
// never tells of more time than has gone by since the version was written.
type Watch struct {
	version     uint64
	first, last time.Time // when this version was looked at
}

// Stood notes the version that stands, and returns for how long it is known to have stood. What was seen more than gap ago counts no
// more, unless gap is 0.
func (w *Watch) Stood(version uint64, gap time.Duration) time.Duration {
	now := time.Now()
	if w.first.IsZero() || version != w.version || gap > 0 && now.Sub(w.last) > gap {
		w.version, w.first = version, now
	}
	w.last = now
	return now.Sub(w.first)
}
