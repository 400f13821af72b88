package command

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"

	"berth/internal/admin"
	"berth/internal/certs"
	"berth/internal/doors"
	"berth/internal/h1/server"
	"berth/internal/site"
	"berth/internal/systemd"

	"golang.org/x/sync/errgroup"
)

type process struct {
	site     *site.Site
	reloader *reloader
	signals  <-chan os.Signal // to read the configuration anew
	http1    doors.Door
	http2    doors.Door
	admin    []*admin.Server // for operators, and for probes
	private  *certs.Certs    // of the listener for operators; nil: it speaks no TLS
	times    times
	log      *slog.Logger

	manager  systemd.Notifier
	watchdog *systemd.Watchdog
}

func (p *process) run(ctx context.Context, in doors.Entrances) error {
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	group, groupCtx := errgroup.WithContext(background)
	group.Go(func() error { return p.site.Run(groupCtx) })
	group.Go(func() error { return p.reloader.Run(groupCtx, p.signals) })
	for _, listener := range p.admin {
		group.Go(func() error { return listener.Run(groupCtx) })
	}
	if p.private != nil {
		group.Go(func() error { return p.private.Run(groupCtx) })
	}
	group.Go(func() error { return p.watchdog.Run(groupCtx) })
	served := make(chan error, 1)
	go func() { served <- p.serveClients(in) }()
	p.manager.Ready("serving on " + in.HTTP1.Addr().String())
	var err error
	select {
	case err = <-served:
	case <-groupCtx.Done():
	case <-ctx.Done():
		p.shutDown(ctx, func(limit context.Context) { stopAccepting(limit, in.HTTP1, served) })
	}
	p.http1.Close()
	p.http2.Close()
	stop()
	err = errors.Join(ignoreClosed(err), group.Wait(), p.site.Close())
	p.log.Info("ended")
	return err
}

// stopAccepting closes a listener, and waits for what serves it. What was let in, and begins meanwhile, is served, unless ctx ends before.
func stopAccepting(ctx context.Context, l net.Listener, served <-chan error) {
	_ = l.Close() // Serve fails with it, and is over then
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	<-served
}

// serveClients serves until nobody is let in any more.
func (p *process) serveClients(in doors.Entrances) error {
	var group errgroup.Group
	group.Go(func() error { return p.http1.Serve(in.HTTP1) })
	if in.HTTP2 != nil {
		group.Go(func() error { return p.http2.Serve(in.HTTP2) })
	}
	return group.Wait()
}

func ignoreClosed(err error) error {
	if err == nil || errors.Is(err, http.ErrServerClosed) || errors.Is(err, server.ErrClosed) {
		return nil
	}
	return fmt.Errorf("serve: %w", err)
}
