package parts

import (
	"context"
	"sync"
)

// Life is what a part does beside being asked.
type Life struct {
	Run  func(context.Context) error // what goes on until its context ends; nil: nothing
	Here func() int                  // counts the calls that end with this process; nil: there are none
	// End lets go of what the part has, once Run has returned; nil: it has nothing. What is under way in
	// it may go on until ctx ends, which the end of the process does.
	End func(ctx context.Context)
}

// part is what is shared under one key, from the first that uses it to the last.
type part struct {
	Life
	value any
	users int
	stop  context.CancelFunc // of run; nil: it does not run
	over  chan struct{}      // closed when run has returned
}

// Parts are those in use, by their keys.
type Parts struct {
	making sync.Mutex // held while a part is made, for as long as a disk takes to answer: nobody else waits for that

	mu      sync.Mutex // guards the fields below, and those of each part
	all     map[string]*part
	ctx     context.Context // of what runs; nil: nothing does yet
	running sync.WaitGroup

	past    map[*part]struct{} // those that nobody uses any more, and that have not ended
	ending  sync.WaitGroup     // the same
	patient context.Context    // of their ends
	hurry   context.CancelFunc
}

// New returns parts of which there are none yet.
func New() *Parts {
	ps := &Parts{all: map[string]*part{}, past: map[*part]struct{}{}}
	ps.patient, ps.hurry = context.WithCancel(context.Background())
	return ps
}

// Share takes the part with this key into use for whoever drops what is taken. Where there is none, make makes it;
// what goes on in it begins when the parts do, or with the next [Parts.BeginNew].
func Share[T any](ps *Parts, taken *[]string, key string, make func() (T, Life, error)) (T, error) {
	ps.making.Lock()
	defer ps.making.Unlock()
	p := ps.join(key)
	if p == nil {
		value, l, err := make()
		if err != nil {
			return value, err
		}
		p = &part{Life: l, value: value, users: 1}
		ps.add(key, p)
	}
	*taken = append(*taken, key)
	return p.value.(T), nil
}

// join counts a user more of a part; nil: there is none.
func (ps *Parts) join(key string) *part {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	p := ps.all[key]
	if p != nil {
		p.users++
	}
	return p
}

func (ps *Parts) add(key string, p *part) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.all[key] = p
}

// Begin has the parts run that do not yet, from now on and in ctx.
func (ps *Parts) Begin(ctx context.Context) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.ctx = ctx
	ps.beginLocked()
}

// BeginNew is Begin for parts that have joined since; before it nothing runs.
func (ps *Parts) BeginNew() {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.ctx != nil && ps.ctx.Err() == nil {
		ps.beginLocked()
	}
}

func (ps *Parts) beginLocked() {
	for _, p := range ps.all {
		if p.Run == nil || p.stop != nil {
			continue
		}
		var ctx context.Context
		ctx, p.stop = context.WithCancel(ps.ctx)
		p.over = make(chan struct{})
		ps.running.Go(func() {
			defer close(p.over)
			_ = p.Run(ctx) // it fails with ctx only
		})
	}
}

// Drop takes what was taken out of the use of who has taken it. What nobody uses any more ends, in its time.
func (ps *Parts) Drop(taken []string) {
	for _, key := range taken {
		ps.leave(key)
	}
}

// leave counts one user of a part less.
func (ps *Parts) leave(key string) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	p := ps.all[key]
	if p == nil { // all are closed
		return
	}
	if p.users--; p.users == 0 {
		delete(ps.all, key)
		ps.finish(p)
	}
}

// finish ends a part in its time. The caller has the lock.
func (ps *Parts) finish(p *part) {
	ps.past[p] = struct{}{}
	ps.ending.Go(func() {
		p.finish(ps.patient)
		ps.mu.Lock()
		defer ps.mu.Unlock()
		delete(ps.past, p)
	})
}

func (p *part) finish(ctx context.Context) {
	if p.stop != nil {
		p.stop()
		<-p.over
	}
	if p.End != nil {
		p.End(ctx)
	}
}

// Here counts the calls that go on in this process or nowhere.
func (ps *Parts) Here() (n int) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	count := func(p *part) {
		if p.Life.Here != nil {
			n += p.Life.Here()
		}
	}
	for _, p := range ps.all {
		count(p)
	}
	for p := range ps.past {
		count(p)
	}
	return n
}

// Wait waits for all that runs, once its context has ended. Nothing begins from then on.
func (ps *Parts) Wait() {
	ps.mu.Lock()
	ps.ctx = nil
	ps.mu.Unlock()
	ps.running.Wait()
}

// Close lets go of all that is left, in use or not, and waits for that. Call it after Wait.
func (ps *Parts) Close() {
	ps.hurry()
	ps.mu.Lock()
	for _, p := range ps.all {
		ps.finish(p)
	}
	ps.all = map[string]*part{}
	ps.mu.Unlock()
	ps.ending.Wait()
}
