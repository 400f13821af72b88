package command

import (
	"context"
	"sync"
)

// life is what a part does beside being asked.
type life struct {
	run  func(context.Context) error // what goes on until its context ends; nil: nothing
	here func() int                  // counts the calls that end with this process; nil: there are none
	// end lets go of what the part has, once run has returned; nil: it has nothing. What is under way in
	// it may go on until ctx ends, which the end of the process does.
	end func(ctx context.Context)
}

// part is what generations share under one key, from the first that uses it to the last.
type part struct {
	life
	value any
	users int
	stop  context.CancelFunc // of run; nil: it does not run
	over  chan struct{}      // closed when run has returned
}

// parts are those in use, by their keys. What is equal under one key is the same part in the next
// generation: a key says all that a change of makes another part.
type parts struct {
	mu      sync.Mutex // guards the fields below, and those of each part
	all     map[string]*part
	ctx     context.Context // of what runs; nil: nothing does yet
	running sync.WaitGroup

	past    map[*part]struct{} // those that nobody uses any more, and that have not ended
	ending  sync.WaitGroup     // the same
	patient context.Context    // of their ends
	hurry   context.CancelFunc
}

func newParts() *parts {
	ps := &parts{all: map[string]*part{}, past: map[*part]struct{}{}}
	ps.patient, ps.hurry = context.WithCancel(context.Background())
	return ps
}

// share takes the part with this key into use for a generation, which drops it. Where there is
// none, make makes it; what goes on in it begins when the generation is used.
func share[T any](g *generation, key string, make func() (T, life, error)) (T, error) {
	return shareAs(g.site.parts, &g.taken, key, make)
}

// shareAs is share for whoever drops what is taken.
func shareAs[T any](ps *parts, taken *[]string, key string, make func() (T, life, error)) (T, error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	p := ps.all[key]
	if p == nil {
		value, l, err := make()
		if err != nil {
			return value, err
		}
		p = &part{life: l, value: value}
		ps.all[key] = p
	}
	p.users++
	*taken = append(*taken, key)
	return p.value.(T), nil
}

// begin has the parts run that do not yet, from now on and in ctx.
func (ps *parts) begin(ctx context.Context) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.ctx = ctx
	ps.beginLocked()
}

// beginNew is begin for parts that have joined since; before it nothing runs.
func (ps *parts) beginNew() {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.ctx != nil && ps.ctx.Err() == nil {
		ps.beginLocked()
	}
}

func (ps *parts) beginLocked() {
	for _, p := range ps.all {
		if p.run == nil || p.stop != nil {
			continue
		}
		var ctx context.Context
		ctx, p.stop = context.WithCancel(ps.ctx)
		p.over = make(chan struct{})
		ps.running.Go(func() {
			defer close(p.over)
			_ = p.run(ctx) // it fails with ctx only
		})
	}
}

// drop takes what a generation has taken out of its use. What nobody uses any more ends, in its time.
func (ps *parts) drop(taken []string) {
	for _, key := range taken {
		ps.leave(key)
	}
}

// leave counts one user of a part less.
func (ps *parts) leave(key string) {
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
func (ps *parts) finish(p *part) {
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
	if p.end != nil {
		p.end(ctx)
	}
}

// here counts the calls that go on in this process or nowhere.
func (ps *parts) here() (n int) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	count := func(p *part) {
		if p.life.here != nil {
			n += p.life.here()
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

// wait waits for all that runs, once its context has ended. Nothing begins from then on.
func (ps *parts) wait() {
	ps.mu.Lock()
	ps.ctx = nil
	ps.mu.Unlock()
	ps.running.Wait()
}

// close lets go of all that is left, in use or not, and waits for that. Call it after wait.
func (ps *parts) close() {
	ps.hurry()
	ps.mu.Lock()
	for _, p := range ps.all {
		ps.finish(p)
	}
	ps.all = map[string]*part{}
	ps.mu.Unlock()
	ps.ending.Wait()
}
