package discover

import (
	"context"
	"time"
)

// Source tells where the instances of a pool are.
type Source interface {
	// Watch calls tell with each answer that it gets, whole and each name once, or with
	// why it got none, until ctx ends. One call follows upon another; equal answers may.
	Watch(ctx context.Context, tell func([]Instance, error))

	// String says what is asked, without a secret.
	String() string
}

// First returns the first answer of a source.
func First(ctx context.Context, s Source) (list []Instance, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	told := false
	s.Watch(ctx, func(instances []Instance, failed error) {
		if !told {
			told, list, err = true, instances, failed
		}
		cancel()
	})
	if !told {
		return nil, context.Cause(ctx)
	}
	return list, err
}

// answer is what a source says, and how long that holds.
type answer struct {
	instances []Instance
	holds     time.Duration
	err       error
}

// poll asks again and again. What ask returns beside its answer is how long that holds. It may heed no context, as a disk does: once ctx
// ends it is not waited for.
func poll(ctx context.Context, ask func(context.Context) ([]Instance, time.Duration, error), tell func([]Instance, error)) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	answers := make(chan answer, 1)
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		go func() {
			instances, holds, err := ask(ctx)
			answers <- answer{instances, holds, err}
		}()
		select {
		case <-ctx.Done():
			return
		case a := <-answers:
			if ctx.Err() != nil {
				return
			}
			tell(a.instances, a.err)
			timer.Reset(a.holds)
		}
	}
}

// pause is how long to wait after failures in a row; the zero value begins with the least.
type pause struct{ last time.Duration }

func (p *pause) next(least, most time.Duration) time.Duration {
	p.last = min(max(2*p.last, least), most)
	return p.last
}

func (p *pause) over() { p.last = 0 }
