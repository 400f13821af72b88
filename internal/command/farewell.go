package command

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"berth/internal/config"
	"berth/internal/storage"
)

// times are those that a berth takes to go.
type times struct {
	delay time.Duration // in which it serves as before
	drain time.Duration // that requests and streams have after it
	held  time.Duration // that calls have which no other berth can go on with; at least drain
}

func timesOf(cfg config.Config, store *storage.Store) times {
	return times{time.Duration(cfg.DrainDelay), time.Duration(cfg.Drain), time.Duration(cfg.EffectiveDrainHeld(store.Shared()))}
}

const (
	// farewell is how long kept connections are left open: answers on them say that they close. One
	// that is closed while its client writes breaks that call.
	farewell = 2 * time.Second

	// goodbye is how long before the end those who wait for tasks are told to ask elsewhere.
	goodbye = time.Second
)

// shutDown takes berth out of service in order: it says that it goes and serves on, takes no more
// connections, hands over what another berth can go on with, and waits for the rest. A second signal
// ends each of these times, a third one the process.
func (p *process) shutDown(ctx context.Context, stopAccepting func()) {
	interrupted, calm := signal.NotifyContext(context.WithoutCancel(ctx), os.Interrupt, syscall.SIGTERM)
	defer calm()
	context.AfterFunc(interrupted, calm)
	p.reloader.close()
	p.manager.Stopping("not ready any more")
	p.site.self.leaves.Store(true)
	p.site.board.Tell()
	for _, listener := range p.admin {
		listener.SetDraining()
	}
	defer p.tellEachSecond()()
	p.serveOn(interrupted)
	p.log.Info("draining", "for", p.times.drain.String(), "held", p.times.held.String())
	limit, cancel := context.WithTimeout(interrupted, p.times.drain)
	defer cancel()
	held, cancelHeld := context.WithTimeout(interrupted, p.times.held)
	defer cancelHeld()
	p.site.proxy().Drain()
	stop := time.AfterFunc(p.times.drain-goodbye, p.site.proxy().ReleaseWaiters)
	defer stop.Stop()
	stopAccepting()
	// Connections of HTTP/2 are told at once that no more is taken (GOAWAY): what is under way on them
	// goes on, and a request that crosses that word was not served, which its client can tell.
	second := make(chan error, 1)
	go func() { second <- p.second.Shutdown(limit) }()
	p.awaitClients(limit)
	p.site.handOver(held)
	if err := errors.Join(p.first.Shutdown(limit), <-second); err != nil {
		p.cut(ctx, err)
	}
	// After the requests: what these still begin, or answer, is held to its end as well.
	p.site.drainTasks(held)
	p.site.awaitTied(held)
}

// serveOn serves as before for as long as what is in front needs to notice that berth goes.
func (p *process) serveOn(ctx context.Context) {
	if p.times.delay <= 0 {
		return
	}
	p.log.Info("not ready any more, serving on", "for", p.times.delay.String())
	select {
	case <-ctx.Done():
	case <-time.After(p.times.delay):
	}
}

// awaitClients waits for clients to close their connections, as long as a farewell takes.
func (p *process) awaitClients(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, min(farewell, p.times.drain/2))
	defer cancel()
	await(ctx, func() bool { return p.connections() == 0 })
}

// await looks now and then, until done says so or ctx ends.
func await(ctx context.Context, done func() bool) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (p *process) cut(ctx context.Context, why error) {
	p.log.Warn("drain time is over, what is left is cut", "requests", p.site.proxy().Serving(), "error", why)
	p.site.proxy().Cut()
	p.first.Close()
	p.second.Close()
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	p.site.proxy().Wait(limit)
}

// handOver leaves to other berths what they can go on with, until ctx ends. It returns at once.
func (s *site) handOver(ctx context.Context) {
	if tasks := s.tasks.Load(); tasks != nil {
		tasks.StopCreating()
		go tasks.HandOver(ctx)
	}
}

// awaitTied waits for the calls that live in this process alone, and for what other berths are
// still being told of them.
func (s *site) awaitTied(ctx context.Context) {
	if s.parts.Here() == 0 {
		return
	}
	await(ctx, func() bool { return s.parts.Here() == 0 })
	ctx, cancel := context.WithTimeout(ctx, lastWords) // a stream of another berth's may stand for ever
	defer cancel()
	await(ctx, func() bool { return s.mailbox.Serving() == 0 })
}
