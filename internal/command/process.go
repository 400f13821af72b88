package command

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"berth/internal/admin"
	"berth/internal/config"

	"golang.org/x/sync/errgroup"
)

const lastWords = 3 * time.Second

type process struct {
	site   *site
	server *http.Server
	admin  *admin.Server // nil: none
	drain  config.Duration
	log    *slog.Logger

	connections func() int64 // of clients, that are open
}

// farewell is how long kept connections are left open: answers on them say that they close. One
// that is closed while its client writes breaks that call.
const farewell = 2 * time.Second

func newServer(cfg config.Config, handler http.Handler, log *slog.Logger) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: time.Duration(cfg.Limits.HeaderRead),
		IdleTimeout:       time.Duration(cfg.Limits.Idle),
		MaxHeaderBytes:    int(cfg.Limits.Headers),
		Protocols:         protocols,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

func (p *process) run(ctx context.Context, listener net.Listener) error {
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	group, groupCtx := errgroup.WithContext(background)
	group.Go(func() error { return p.site.Run(groupCtx) })
	if p.admin != nil {
		group.Go(func() error { return p.admin.Run(groupCtx) })
	}
	served := make(chan error, 1)
	go func() { served <- p.server.Serve(listener) }()
	var err error
	select {
	case err = <-served:
	case <-groupCtx.Done():
	case <-ctx.Done():
		p.shutDown(ctx, func() {
			_ = listener.Close() // Serve fails with it, and is over then
			<-served
		})
	}
	p.server.Close()
	stop()
	err = errors.Join(ignoreClosed(err), group.Wait(), p.site.Close())
	p.log.Info("ended")
	return err
}

// goodbye is how long before the end those who wait for tasks are told to ask elsewhere.
const goodbye = time.Second

func (p *process) shutDown(ctx context.Context, stopAccepting func()) {
	if p.admin != nil {
		p.admin.SetDraining()
	}
	p.log.Info("draining", "for", p.drain.String())
	p.site.proxy().Drain()
	p.site.stopCreating()
	// A second signal ends the time to drain, a third one the process.
	interrupted, calm := signal.NotifyContext(context.WithoutCancel(ctx), os.Interrupt, syscall.SIGTERM)
	defer calm()
	context.AfterFunc(interrupted, calm)
	limit, cancel := context.WithTimeout(interrupted, time.Duration(p.drain))
	defer cancel()
	stop := time.AfterFunc(time.Duration(p.drain)-goodbye, p.site.proxy().ReleaseWaiters)
	defer stop.Stop()
	stopAccepting()
	p.awaitClients(limit)
	if err := p.server.Shutdown(limit); err != nil {
		p.cut(ctx, err)
	}
	// After the requests: what these still begin, or answer, is held to its end as well.
	p.site.drainTasks(limit)
}

// awaitClients waits for clients to close their connections, as long as a farewell takes.
func (p *process) awaitClients(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, min(farewell, time.Duration(p.drain)/2))
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for p.connections() > 0 {
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
	p.server.Close()
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	p.site.proxy().Wait(limit)
}

func ignoreClosed(err error) error {
	if err == nil || errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve: %w", err)
}
