package adminapi

import (
	"context"
	"sync"
	"time"
)

const (
	// snapshotShare is what part of one core, as a divisor, the reading of a snapshot may take: it is read
	// anew after so many times what it took, by the clock, and so with a machine that is busy counted in.
	snapshotShare = 20
	// snapshotEvery is how often one is read at most, however little it takes, and snapshotOld how often at
	// least, while somebody asks.
	snapshotEvery, snapshotOld = time.Second, 30 * time.Second
	// snapshotWait is how long a question waits for a reading that is under way; then it is answered by
	// what there is.
	snapshotWait = 150 * time.Millisecond
	// snapshotKept is how long one is kept that nobody asks for.
	snapshotKept = time.Minute
	// snapshotTime bounds one reading.
	snapshotTime = 2 * time.Minute
)

// snapshot is something that takes long to read, in memory for all who ask at a time. It is read while
// somebody asks, and dropped a minute after. A reading ends by itself, within snapshotTime, in a
// goroutine that outlives the question which began it.
type snapshot[T any] struct {
	// read reads it, given the one before; nil: there is none. It calls pause between two pieces of work,
	// and show with what it has so far, when pause says that it is time to.
	read func(ctx context.Context, before *T, pause *pause, show func(*T)) (*T, error)

	mu      sync.Mutex // guards the fields below
	value   *T         // nil: none was read
	asOf    time.Time  // when that was begun
	whole   bool       // it is not the beginning of a first one
	err     error      // of the last reading
	next    time.Time  // when it may be read anew
	reading chan struct{}
	asked   time.Time // when somebody did last
	drop    *time.Timer
}

// shot is a snapshot as it was at one time.
type shot[T any] struct {
	value *T // nil: nothing could be read yet
	asOf  time.Time
	whole bool  // nothing is missing
	err   error // why it is not newer
}

// get returns the newest there is, after a wait for one that is being read.
func (s *snapshot[T]) get(ctx context.Context) shot[T] {
	s.mu.Lock()
	s.keep()
	if s.reading == nil && !time.Now().Before(s.next) {
		s.reading = make(chan struct{})
		go s.renew(context.WithoutCancel(ctx), s.value, s.reading)
	}
	reading := s.reading
	s.mu.Unlock()
	if reading != nil {
		wait := time.NewTimer(snapshotWait)
		defer wait.Stop()
		select {
		case <-reading:
		case <-wait.C:
		case <-ctx.Done():
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return shot[T]{s.value, s.asOf, s.whole, s.err}
}

// missing is what of a snapshot may be missing, as o words it; says is what it says itself.
func (s shot[T]) missing(o outages, says string) string {
	switch {
	case isAway(s.err):
		return "not read anew: " + o.awayLine(s.err)
	case s.err != nil:
		return "not read anew: " + s.err.Error()
	case !s.whole:
		return "still being read; ask again"
	}
	return says
}

// keep has the snapshot be dropped a minute from now. s.mu is held.
func (s *snapshot[T]) keep() {
	s.asked = time.Now()
	if s.drop == nil {
		s.drop = time.AfterFunc(snapshotKept, s.forget)
		return
	}
	s.drop.Reset(snapshotKept)
}

// forget drops the snapshot, unless somebody has asked for it when its time was over already.
func (s *snapshot[T]) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.asked) < snapshotKept {
		return
	}
	s.value, s.whole, s.asOf, s.err, s.next = nil, false, time.Time{}, nil, time.Time{}
}

func (s *snapshot[T]) renew(ctx context.Context, before *T, done chan struct{}) {
	ctx, cancel := context.WithTimeout(ctx, snapshotTime)
	defer cancel()
	began := time.Now()
	pace := &pause{since: began, shown: began.Add(snapshotWait/2 - publishEvery)} // who asked first is shown something
	value, err := s.read(ctx, before, pace, func(some *T) {
		if before == nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.note(some, began, false, nil)
		}
	})
	pace.stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reading = nil // whoever finds nobody reading finds what was read
	s.next = began.Add(min(max(snapshotEvery, snapshotShare*pace.worked), snapshotOld))
	s.note(value, began, true, err)
	close(done)
}

// note notes what was read; what could not be read leaves what there is. s.mu is held.
func (s *snapshot[T]) note(value *T, at time.Time, whole bool, err error) {
	s.err = err
	if err == nil {
		s.value, s.asOf, s.whole = value, at, whole
	}
}
