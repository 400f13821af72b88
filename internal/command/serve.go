package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os/signal"
	"syscall"
	"time"

	"berth/internal/auditlog"
	"berth/internal/build"
	"berth/internal/config"
	"berth/internal/doors"
	"berth/internal/heap"
	"berth/internal/journal"
	"berth/internal/site"
	"berth/internal/sockets"
	"berth/internal/systemd"
	"berth/internal/telemetry"
	"berth/internal/trouble"

	"github.com/urfave/cli/v2"
)

func serveCommand() *cli.Command {
	return &cli.Command{
		Name:  "serve",
		Usage: "stand in front of a fleet",
		Flags: serveFlags(),
		Action: func(c *cli.Context) error {
			r := newReading(c.String("config"), func() (config.Config, *config.Source, error) { return configure(c) })
			cfg, source, err := r.load()
			if err != nil {
				return err
			}
			// A write to a standard error that nobody reads ends a process by default. No client's
			// task may hang on whoever collects the logs.
			signal.Ignore(syscall.SIGPIPE)
			heap.Pace()
			return r.located(serve(c.Context, r, cfg, source, c.App.ErrWriter))
		},
	}
}

// serve serves by cfg, whose keys are from source, and by what r reads later.
func serve(ctx context.Context, r reading, cfg config.Config, source *config.Source, logs io.Writer) error {
	signals, quiet := hangUps() // from the start: one that comes too early must not end the process
	defer quiet()
	inherited, err := sockets.Inherit() // before anything is run that would have them too
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	lines := journal.New(logs)
	defer lines.Flush()
	level := new(journal.Level)
	level.Configure(cfg.Log.EffectiveLevel())
	log := lines.Logger(level)
	tel, err := telemetry.Start(ctx, telemetry.Options{
		Version: build.Version, Revision: readVersion().Revision, TracesEndpoint: cfg.Telemetry.Traces, Log: log,
	})
	if err != nil {
		return fmt.Errorf("telemetry: %w", err)
	}
	defer flush(tel, log)
	o := site.Observers{Log: log, Level: level, Access: lines.Patient(level), Meter: tel.MeterProvider(), Tracer: tel.TracerProvider(), Troubles: trouble.New(tel.MeterProvider())}
	if o.Deeds, err = auditlog.Open(auditlog.Options{Where: cfg.Log.Audit, Stderr: lines, Logger: log, Meter: o.Meter}); err != nil {
		return err
	}
	defer o.Deeds.Close()
	// Before the listener: clients are better refused than left waiting for the store.
	store, err := site.OpenStore(ctx, cfg, o)
	if err != nil {
		return err
	}
	defer store.Close()
	s, err := site.New(ctx, store, cfg, o)
	if err != nil {
		return err
	}
	listener, err := openClients(ctx, cfg, inherited)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	defer listener.Close()
	s.Begin(isLoopback(listener.Addr()))
	s.AskSources(ctx)
	in := s.DoorOptions(cfg)
	p := &process{site: s, reloader: newReloader(r, source.Tell(cfg.Keys()), s, o.Meter), signals: signals, log: log, times: timesOf(cfg, store.Shared()), http1: doors.HTTP1(in), http2: doors.HTTP2(in)}
	s.Introduce(site.Self{Listen: listener.Addr().String(), Started: time.Now().UTC(), Checks: p.checks, Read: p.reloader.read})
	p.watchdog = systemd.NewWatchdog(log, s.Probes(listener)...)
	if err := p.openAdmin(ctx, cfg, inherited.Admin, tel); err != nil {
		return errors.Join(err, s.Close())
	}
	announce(log, cfg, listener.Addr(), store, s)
	return p.run(ctx, s.Entrances(listener, cfg))
}

func flush(tel *telemetry.Telemetry, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), site.LastWords)
	defer cancel()
	if err := tel.Shutdown(ctx); err != nil {
		log.Warn("telemetry could not be flushed", "error", err)
	}
}

// openClients opens the listener of clients, unless the service manager has.
func openClients(ctx context.Context, cfg config.Config, inherited sockets.Inherited) (*sockets.Listener, error) {
	if inherited.Clients != nil {
		return inherited.Clients, nil
	}
	return sockets.Listen(ctx, cfg.Listen, cfg.ReusePort)
}

func announce(log *slog.Logger, cfg config.Config, addr net.Addr, store site.Store, s *site.Site) {
	announcePools(log, cfg)
	s.Announce()
	log.Info("serving", "address", addr.String(), "tls", cfg.TLS.Enabled(), "store", store.String(), "version", build.Version)
}

func announcePools(log *slog.Logger, cfg config.Config) {
	for _, pool := range cfg.Pools {
		log.Info("pool", "name", pool.Name, "path", pool.Path, "upstreams", len(pool.Upstreams), "picker", pool.Picker)
		for _, u := range unsetOffLoopback(cfg, pool) {
			log.Info(u.means, "pool", pool.Name)
		}
	}
}

func isLoopback(addr net.Addr) bool {
	ap, err := netip.ParseAddrPort(addr.String())
	return err == nil && ap.Addr().Unmap().IsLoopback()
}
