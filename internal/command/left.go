package command

import (
	"fmt"
	"time"
)

// left is what a berth that goes still has.
type left struct{ requests, streams, held, tied, connections int64 }

func (p *process) left() left {
	proxy := p.site.proxy()
	l := left{streams: proxy.Streams(), held: int64(p.site.held()), tied: int64(p.site.parts.Here()), connections: p.connections()}
	l.requests = max(proxy.Serving()-l.streams, 0)
	return l
}

func (l left) String() string {
	return fmt.Sprintf("left: %d requests, %d streams, %d held calls, %d calls of this process alone, %d connections",
		l.requests, l.streams, l.held, l.tied, l.connections)
}

func (s *site) held() int {
	if tasks := s.tasks.Load(); tasks != nil {
		return tasks.Held()
	}
	return 0
}

// tellEachSecond says what is left, until it is ended, which the function that it returns does.
func (p *process) tellEachSecond() (end func()) {
	done, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			l := p.left()
			p.log.Info("what is left", "requests", l.requests, "streams", l.streams, "held", l.held, "tied", l.tied, "connections", l.connections)
			p.manager.Status(l.String(), moreTime)
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	}()
	return func() {
		close(done)
		<-over
	}
}

// moreTime is what a service manager is asked for each second, so that it does not end a berth which
// drains: that has bounds of its own.
const moreTime = 15 * time.Second
