package command

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"berth/internal/admin"
	"berth/internal/config"
	"berth/internal/systemd"

	"golang.org/x/sync/errgroup"
)

const lastWords = 3 * time.Second

type process struct {
	site   *site
	server *http.Server
	admin  *admin.Server // nil: none
	times  times
	log    *slog.Logger

	manager  systemd.Notifier
	watchdog *systemd.Watchdog

	connections func() int64 // of clients, that are open
}

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
	group.Go(func() error { return p.watchdog.Run(groupCtx) })
	served := make(chan error, 1)
	go func() { served <- p.server.Serve(listener) }()
	p.manager.Ready("serving on " + listener.Addr().String())
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

func ignoreClosed(err error) error {
	if err == nil || errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve: %w", err)
}
