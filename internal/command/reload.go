package command

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/config"
	"berth/internal/reload"
	"berth/internal/series"
	"berth/internal/site"
	"berth/internal/systemd"

	"go.opentelemetry.io/otel/metric"
)

var (
	errNoFile   = errors.New("there is no file to read anew: berth was started without --config")
	errDraining = errors.New("berth is on its way out")
)

// reading reads the configuration anew as it was read at the start, flags and all.
type reading struct {
	file string // "": there is none, and the flags are all that is said
	load func() (config.Config, *config.Source, error)

	first string // digest of the file before it was read at the start: what it says since may not be in use
}

// newReading returns a reading of a file whose first is to follow.
func newReading(file string, load func() (config.Config, *config.Source, error)) reading {
	return reading{file, load, fileDigest(file)}
}

// faultsBy are the errors that err joins, as faults of the file's.
func (r reading) faultsBy(err error) (all config.Faults) {
	at := config.FaultsAt(r.file)
	for _, one := range reload.Each(err) {
		all = append(all, at(site.KeyOf(one), one.Error()))
	}
	return all
}

// located is err, as faults of the file's if it says of which keys it is.
func (r reading) located(err error) error {
	if site.KeyOf(err) == "" {
		return err
	}
	return r.faultsBy(err)
}

// reloader takes over what the configuration file says now, all or nothing.
type reloader struct {
	reading
	site    *site.Site
	log     *slog.Logger
	manager systemd.Notifier // is told of each reading
	outcome series.Outcomes
	last    atomic.Pointer[attempt]
	keys    atomic.Pointer[[]config.Key] // in use, with their origins

	turn sync.Mutex // held while one is under way: for as long as the disks take to answer of the file, and of those that it names

	mu     sync.Mutex // guards the fields below; held while what was read is taken over
	closed bool       // berth drains
	seen   string     // digest of the file at the last attempt
}

// attempt is how the last reading went.
type attempt struct {
	at      time.Time
	success time.Time // of this one or the last before it that was good
	restart []string  // keys that the file has otherwise, and that need a restart, as the last good one showed
	err     error
}

// newReloader returns a reloader; keys are those that were read at the start.
func newReloader(r reading, keys []config.Key, s *site.Site, meters metric.MeterProvider) *reloader {
	now := time.Now()
	l := &reloader{reading: r, site: s, log: s.Log, seen: r.first}
	l.last.Store(&attempt{at: now, success: now})
	l.keys.Store(&keys)
	meter := series.Meter(meters, "berth/config")
	l.outcome = series.NewOutcomes(meter, "berth.config.reloads", "Readings of the configuration since the start.")
	series.Gauge(meter, "berth.config.reload.success", "1 if the configuration as last read is in use, else 0.", "", func() int64 {
		if l.last.Load().err != nil {
			return 0
		}
		return 1
	})
	series.Gauge(meter, "berth.config.reload.timestamp", "When the configuration in use was read, Unix time.", "s",
		func() int64 { return l.last.Load().success.Unix() })
	series.Gauge(meter, "berth.config.generations", "Configurations that serve requests: the one in use, and those before it that have some left.", "",
		s.Generations)
	return l
}

// reload takes over what the file says. by is what has asked for it. The error is a config.Faults where
// the file is at fault; what was in use stays then.
func (l *reloader) reload(ctx context.Context, by string) (change config.Change, err error) {
	l.turn.Lock()
	defer l.turn.Unlock()
	switch {
	case l.isClosed():
		return change, errDraining
	case l.file == "":
		l.log.Warn("the configuration cannot be read anew", "by", by, "error", errNoFile)
		return change, errNoFile
	}
	l.manager.Reloading()
	seen := fileDigest(l.file)
	next, source, err := l.prepare(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		if err == nil {
			next.Drop()
		}
		return change, errDraining
	}
	l.seen = seen
	if err == nil {
		change, err = l.apply(ctx, next, source)
	}
	l.note(by, change, err)
	return change, err
}

// prepare reads the configuration, and what it names.
func (l *reloader) prepare(ctx context.Context) (*site.Prepared, *config.Source, error) {
	cfg, source, err := l.load()
	switch {
	case err != nil:
		return nil, nil, err
	case l.isClosed():
		return nil, nil, errDraining
	}
	err = l.site.FetchKeys(ctx, cfg.Auth)
	var next *site.Prepared
	if err == nil {
		next, err = l.site.Prepare(cfg)
	}
	if err != nil {
		return nil, nil, l.faultsBy(err)
	}
	return next, source, nil
}

// apply uses what was read. The caller has the lock.
func (l *reloader) apply(ctx context.Context, next *site.Prepared, source *config.Source) (config.Change, error) {
	change, err := next.Use(ctx)
	if err != nil {
		return config.Change{}, l.faultsBy(err)
	}
	keys := kept(source.Tell(l.site.Config().Keys()), *l.keys.Load(), change.Restart)
	l.keys.Store(&keys)
	return change, nil
}

func (l *reloader) note(by string, change config.Change, err error) {
	l.outcome.Count(err)
	before := l.last.Load()
	a := &attempt{at: time.Now(), success: before.success, restart: before.restart, err: err}
	defer l.last.Store(a)
	if err != nil {
		l.manager.Ready("the configuration cannot be used, that of before stays in use")
		for _, fault := range faultsOf(err) {
			l.log.Error("the configuration cannot be used, that of before stays in use", "by", by, "file", fault.File, "line", fault.Line, "key", fault.Key, "error", fault.Message)
		}
		return
	}
	a.success, a.restart = a.at, change.Restart
	l.manager.Ready("the configuration was read anew")
	l.log.Info("the configuration was read anew and is in use", "by", by, "file", l.file, "changed", change.Applied)
	for _, key := range change.Restart {
		l.log.Warn("this key has changed, and needs a restart: its old value stays in use", "key", key)
	}
}

// read is when the configuration in use was read.
func (l *reloader) read() time.Time { return l.last.Load().success }

// close refuses what comes from now on, and what is being read. It does not wait for the file.
func (l *reloader) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
}

func (l *reloader) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

// check says what is wrong with the file as it was last read.
func (l *reloader) check() (ok bool, detail string) {
	a := l.last.Load()
	if a.err == nil {
		return true, ""
	}
	return true, "read at " + a.at.UTC().Format("15:04:05Z") + " and not in use: " + a.err.Error()
}

// faultsOf are the faults that err tells of.
func faultsOf(err error) []config.Fault {
	if faults, ok := errors.AsType[config.Faults](err); ok {
		return faults
	}
	return []config.Fault{{Message: err.Error()}}
}
