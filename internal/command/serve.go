package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"syscall"

	"berth/internal/auditlog"
	"berth/internal/build"
	"berth/internal/config"
	"berth/internal/doors"
	"berth/internal/heap"
	"berth/internal/journal"
	"berth/internal/sockets"
	"berth/internal/storage"
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
			r := reading{c.String("config"), func() (config.Config, *config.Source, error) { return configure(c) }}
			cfg, source, err := r.load()
			if err != nil {
				return err
			}
			// A write to a standard error that nobody reads ends a process by default. No client's
			// task may hang on whoever collects the logs.
			signal.Ignore(syscall.SIGPIPE)
			heap.Pace()
			return serve(c.Context, r, cfg, source, c.App.ErrWriter)
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
	level.Configure(levelOf(cfg))
	log := lines.Logger(level)
	tel, err := telemetry.Start(ctx, telemetry.Options{
		Version: build.Version, Revision: readVersion().Revision, TracesEndpoint: cfg.Telemetry.Traces, Log: log,
	})
	if err != nil {
		return fmt.Errorf("telemetry: %w", err)
	}
	defer flush(tel, log)
	o := observers{log: log, level: level, access: lines.Patient(level), meter: tel.MeterProvider(), tracer: tel.TracerProvider(), troubles: trouble.New(tel.MeterProvider())}
	if o.deeds, err = auditlog.Open(auditlog.Options{Where: cfg.Log.Audit, Stderr: lines, Logger: log, Meter: o.meter}); err != nil {
		return err
	}
	defer o.deeds.Close()
	// Before the listener: clients are better refused than left waiting for the store.
	store, trust, err := openStore(ctx, cfg, o)
	if err != nil {
		return err
	}
	defer store.Close()
	s, g, err := newSiteOf(ctx, store, cfg, o)
	if err != nil {
		return err
	}
	listener, err := openClients(ctx, cfg, inherited)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	defer listener.Close()
	s.storeTrust, s.loopback = trust, isLoopback(listener.Addr())
	s.use(g)
	g.discoverFirst(ctx)
	in := s.doorOptions(cfg)
	p := &process{site: s, reloader: newReloader(r, source.Tell(cfg.Keys()), s, o.meter), signals: signals, log: log, times: timesOf(cfg, store), first: doors.First(in), second: doors.Second(in)}
	p.introduce(listener.Addr().String())
	p.watchdog = systemd.NewWatchdog(log, s.probes(listener)...)
	if err := p.openAdmin(ctx, cfg, inherited.Admin, tel); err != nil {
		return errors.Join(err, s.Close())
	}
	announce(log, cfg, listener.Addr(), s)
	entrances := s.entrances(listener, cfg)
	p.connections = s.connections.Open
	return p.run(ctx, entrances)
}

// levelOf is the level that cfg names, which was judged with the file.
func levelOf(cfg config.Config) (level slog.Level) {
	_ = level.UnmarshalText([]byte(cfg.Log.Level))
	return level
}

func flush(tel *telemetry.Telemetry, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), lastWords)
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

func announce(log *slog.Logger, cfg config.Config, addr net.Addr, s *site) {
	announcePools(log, cfg)
	announceStore(log, s.store)
	announceUpgrades(log, upgradeRules(cfg), s.store, s.tasks.Load())
	log.Info("serving", "address", addr.String(), "tls", cfg.TLS.Enabled(), "store", s.store.String(), "version", build.Version)
}

func announcePools(log *slog.Logger, cfg config.Config) {
	for _, pool := range cfg.Pools {
		log.Info("pool", "name", pool.Name, "path", pool.Path, "upstreams", len(pool.Upstreams), "picker", pool.Picker)
		if refuses := refusedPages(cfg, pool); refuses != "" {
			log.Info(refuses, "pool", pool.Name)
		}
	}
}

func isLoopback(addr net.Addr) bool {
	ap, err := netip.ParseAddrPort(addr.String())
	return err == nil && ap.Addr().Unmap().IsLoopback()
}

// stateDirectory is what the service manager gave berth: the one place where the environment
// decides about the store.
func stateDirectory() string { return os.Getenv("STATE_DIRECTORY") }

func announceStore(log *slog.Logger, store *storage.Store) {
	switch {
	case store.Shared():
	case store.Durable():
		log.Info("bindings are kept in a file: a restart finds them again; another berth does not see them (--store redis://… shares them)")
	default:
		log.Info("bindings are kept in memory: a restart forgets which instance owns which task and session, " +
			"and asks the fleet for each anew; another berth does not see them (--store file:PATH keeps them, redis://… shares them too)")
	}
}
