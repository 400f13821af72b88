package ledger

import (
	"strings"
	"sync"
	"time"

	"berth/upgrade/task"
)

// maxStrays bounds how many tasks are known at a time whose holders are to be asked. More are met again.
const maxStrays = 10_000

// Strays are the tasks that this process has met whose holders live, and may not hold them. Of a store of several servers one may
// fall back to an older state alone: a record there names a holder that has seen it end, and the list that tells the holder of its
// tasks stands at another server, which has lost nothing.
type Strays struct {
	clock *Clock
	beat  time.Duration

	mu  sync.Mutex // guards the field below
	met map[string]string
}

// Meet notes a task that somebody has asked for. One that has changed within the last beat is not noted: most calls are over by the next.
func (s *Strays) Meet(t *task.Task) {
	if age := s.clock.Now().Sub(t.Updated); 0 <= age && age < s.beat {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.met) < maxStrays {
		s.met[t.ID] = t.Holder
	}
}

// Take returns those that were met since it was called last, with the holders that their records name.
func (s *Strays) Take() (holders map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	holders, s.met = s.met, map[string]string{}
	return holders
}

const (
	strayPrefix = "stray:" // begins the name under which a holder is told of a task that it may not hold
	placePrefix = "place:" // likewise of a place that it may have given back

	placeAt = "@" // between the name of a place and its list
)

// StrayTopic is the name under which a holder is told of a task that it may not hold.
func StrayTopic(holder, id string) string { return strayPrefix + holder + ":" + id }

// StrayTo returns the task that a holder is told of under a name.
func StrayTo(holder, about string) (id string, ok bool) {
	return strings.CutPrefix(about, strayPrefix+holder+":")
}

// PlaceTopic is the name under which the holder of a place in a list is told of it.
func PlaceTopic(list, name string) string {
	return placePrefix + strings.ReplaceAll(name, " ", ",") + placeAt + list
}

// PlaceOf returns the place that somebody is told of under a name.
func PlaceOf(about string) (list, name string, ok bool) {
	about, ok = strings.CutPrefix(about, placePrefix)
	name, list, whole := strings.Cut(about, placeAt)
	return list, strings.ReplaceAll(name, ",", " "), ok && whole
}
