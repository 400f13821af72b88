package command

import "time"

// tellEachSecond says what is left, until it is ended, which the function that it returns does.
func (p *process) tellEachSecond() (end func()) {
	done, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			l := p.site.Left()
			p.log.Info("what is left", "requests", l.Requests, "streams", l.Streams, "held", l.Held, "tied", l.Tied, "connections", l.Connections)
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
