package command

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"berth/internal/config"
	"berth/internal/site"
)

// times are those that a berth takes to go.
type times struct {
	delay time.Duration // in which it serves as before
	drain time.Duration // that requests and streams have after it
	held  time.Duration // that calls have which no other berth can go on with; at least drain
}

func timesOf(cfg config.Config, shared bool) times {
	return times{time.Duration(cfg.DrainDelay), time.Duration(cfg.Drain), time.Duration(cfg.EffectiveDrainHeld(shared))}
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
func (p *process) shutDown(ctx context.Context, stopAccepting func(limit context.Context)) {
	interrupted, calm := signal.NotifyContext(context.WithoutCancel(ctx), os.Interrupt, syscall.SIGTERM)
	defer calm()
	context.AfterFunc(interrupted, calm)
	p.reloader.close()
	p.manager.Stopping("not ready any more")
	p.site.Leave()
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
	p.site.Proxy().Drain()
	stop := time.AfterFunc(p.times.drain-goodbye, p.site.Proxy().ReleaseWaiters)
	defer stop.Stop()
	stopAccepting(limit)
	// Connections of HTTP/2 are told at once that no more is taken (GOAWAY): what is under way on them
	// goes on, and a request that crosses that word was not served, which its client can tell.
	http2 := make(chan error, 1)
	go func() { http2 <- p.http2.Shutdown(limit) }()
	p.sayFarewell(limit)
	p.site.HandOver(held)
	if err := errors.Join(p.http1.Shutdown(limit), <-http2); err != nil {
		p.cut(ctx, err)
	}
	// After the requests: what these still begin, or answer, is held to its end as well.
	p.site.DrainTasks(held)
	p.site.AwaitTied(held)
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

// sayFarewell waits for clients to close their connections.
func (p *process) sayFarewell(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, min(farewell, p.times.drain/2))
	defer cancel()
	p.site.AwaitClients(ctx)
}

func (p *process) cut(ctx context.Context, why error) {
	p.log.Warn("drain time is over, what is left is cut", "requests", p.site.Proxy().Serving(), "error", why)
	p.site.Proxy().Cut()
	p.http1.Close()
	p.http2.Close()
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), site.LastWords)
	defer cancel()
	p.site.Proxy().Wait(limit)
}
