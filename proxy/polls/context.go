package polls

import "context"

// follow has p end with ctx, which is its leader's client's, once nobody else waits.
func (p *Poll) follow(ctx context.Context) *Poll {
	p.Context, p.ended = ctx, make(chan struct{})
	p.unfollow = context.AfterFunc(ctx, p.leaderLeft)
	return p
}

func (p *Poll) leaderLeft() { p.shared.less(p, func() { p.led = false }) }

// end ends the context.
func (p *Poll) end() {
	p.mu.Lock()
	if p.err == nil {
		p.err = context.Canceled
		close(p.ended)
	}
	steps := p.atEnd
	p.atEnd = nil
	p.mu.Unlock()
	for _, step := range steps {
		step() // of package context, which waits for nothing
	}
}

// Done implements context.Context.
func (p *Poll) Done() <-chan struct{} { return p.ended }

// Err implements context.Context.
func (p *Poll) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// AfterFunc has step run once p ends. Package context derives others from p by it, without a
// goroutine each. What a derived one that is over leaves behind does nothing, and goes with p.
func (p *Poll) AfterFunc(step func()) (stop func() bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		go step()
	} else if p.atEnd == nil {
		p.oneStep[0], p.atEnd = step, p.oneStep[:]
	} else {
		p.atEnd = append(p.atEnd, step)
	}
	return notStopped
}

func notStopped() bool { return false }
