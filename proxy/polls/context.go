package polls

import "context"

// follow has p end with its leader's client's context, once nobody else waits. It begins when somebody asks how long
// p lasts: most polls are over before. Callers hold p.mu.
func (p *Poll) follow() {
	if p.unfollow == nil && p.err == nil {
		p.unfollow = context.AfterFunc(p.Context, p.leaderLeft)
	}
}

func (p *Poll) leaderLeft() { p.shared.less(p, func() { p.led = false }) }

// end ends the context.
func (p *Poll) end() {
	p.mu.Lock()
	if p.err == nil {
		p.err = context.Canceled
		if p.ended != nil {
			close(p.ended)
		}
	}
	steps := p.atEnd
	p.atEnd = nil
	p.mu.Unlock()
	for _, step := range steps {
		step() // of package context, which waits for nothing
	}
}

// Done implements context.Context.
func (p *Poll) Done() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.follow()
	if p.ended == nil {
		p.ended = make(chan struct{})
		if p.err != nil {
			close(p.ended)
		}
	}
	return p.ended
}

// Err implements context.Context.
func (p *Poll) Err() error {
	left, err := p.look()
	if left {
		p.leaderLeft()
		_, err = p.look()
	}
	return err
}

// look returns why p has ended, and whether, which it says once, the leader's client has left while nobody followed it.
func (p *Poll) look() (leftUnseen bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unfollow != nil || p.Context.Err() == nil {
		return false, p.err
	}
	p.unfollow = notStopped
	return true, p.err
}

// AfterFunc has step run once p ends. Package context derives others from p by it, without a
// goroutine each. What a derived one that is over leaves behind does nothing, and goes with p.
func (p *Poll) AfterFunc(step func()) (stop func() bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.follow()
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
