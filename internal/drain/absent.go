package drain

import (
	"maps"
	"time"

	"berth/routing"
)

// absentFor is how long a mark stands on an upstream that no berth has in its pool: names that sources give out once would stay in the
// store for good.
const absentFor = 30 * 24 * time.Hour

// forget drops the marks of upstreams that have been absent for so long by now, and notes those that pool, which may be nil, lacks now.
func (s *storedMarks) forget(pool *routing.Pool, now time.Time) {
	for name := range s.Marks {
		since, known := s.Absent[name]
		switch {
		case pool == nil || pool.Find(name) != nil:
		case !known:
			if s.Absent == nil {
				s.Absent = map[string]time.Time{}
			}
			s.Absent[name] = now.UTC().Truncate(time.Second)
		case now.Sub(since) >= absentFor:
			delete(s.Marks, name)
		}
	}
	maps.DeleteFunc(s.Absent, func(name string, _ time.Time) bool { return !s.Marks[name].Set() })
}

// found reports whether pool has upstreams that were absent, which are so no more.
func (s *storedMarks) found(pool *routing.Pool) (some bool) {
	for name := range s.Absent {
		if pool.Find(name) != nil {
			delete(s.Absent, name)
			some = true
		}
	}
	return some
}
