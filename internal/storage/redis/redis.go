// Package redis is the engine of a store on Redis: one server, the master that sentinels name, or a cluster. It words each
// failure as engine.Fault, without what the driver quotes.
//
//	redis.go, get.go, some.go   the engine; records
//	cluster.go                  the same where each key has its master
//	url.go, tls.go              what a URL names, and how it is connected to
//	each.go, inorder.go, script.go, write.go  what is written by scripts
//	lists.go, listing.go        lists; listener.go: notices; rate.go: rates
//	trips.go, hurry.go          commands that go together in one pipeline, and who cannot wait for it
//	link.go, linkunix.go, linkother.go, tap.go  the connections that those have
//	request.go, response.go     a command, and its answer, as they are sent (RESP2)
//	waiter.go                   WAIT, for replicas
//	moves.go                    another master, as sentinels name it
//	reply.go, greeting.go       what an error means, and a connection that is turned away
//	policy.go, server.go        what servers tell of themselves
//	inspect.go, inspectservers.go  what a store on them would meet
package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"runtime"
	"time"

	"berth/internal/storage/engine"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const (
	// connectionsPerCPU sizes the pool. An operation holds a connection for one round trip.
	connectionsPerCPU = 10

	// idleConnection is less than what firewalls and cloud Redis usually forget after.
	idleConnection = 5 * time.Minute

	// masterTrusted is how long a connection is used without asking the sentinels anew: for the
	// berth that did not hear of a fail-over, and a former master that still takes itself for one.
	masterTrusted = 10 * time.Second
)

// single is the Engine on Redis: one server, or the master that sentinels name.
type single struct {
	client   redis.UniversalClient
	servers  *Servers
	prefix   string
	bound    time.Duration // of one operation, waiting for a connection included
	replicas int           // that have to have a write before it counts
	trips    *trips        // what is short and common goes by these; nil: all goes by itself
	moves    *moves        // to another master; nil: no sentinels name it
	relocate func()        // asks anew which servers hold the keys. Nil where that needs no asking.
}

// Options are the settings of an engine beside its servers.
type Options struct {
	Prefix   string                        // of every key
	Timeout  time.Duration                 // of each wait for a server
	Replicas int                           // that have to have a write before it counts
	TLS      func(host string) *tls.Config // as Options has it
}

// New also returns how many operations at a time may go by themselves, and how many together.
func New(t *Servers, opts Options) (e engine.Engine, alone, together int) {
	// The driver's log repeats every dial error, and is global. Health logs changes, once.
	logging.Disable()
	bounded := boundedOptions(*t.options, opts)
	on := &single{servers: t, prefix: opts.Prefix, bound: 2 * opts.Timeout, replicas: opts.Replicas}
	// What is left is for the write before it, so that "too few" is told apart from silence.
	wait := waiter{replicas: opts.Replicas, timeout: opts.Timeout * 3 / 5}
	if bounded.IsClusterMode {
		return newClusterEngine(on, bounded, wait), bounded.PoolSize - spareConnections, mostAboard
	}
	client := singleClient(bounded)
	wait.follow(client)
	client.AddHook(greeting{})
	on.client = client
	if bounded.MasterName != "" {
		on.moves = newMoves(client, bounded, on.bound)
	}
	lanes := lanesOf(bounded.PoolSize)
	if lanes > 0 {
		on.trips = newTrips(client, lanes, on.bound)
	}
	return on, bounded.PoolSize - lanes - spareConnections, mostAboard
}

func singleClient(o *redis.UniversalOptions) *redis.Client {
	if o.MasterName == "" {
		return redis.NewClient(o.Simple())
	}
	failover := o.Failover()
	// Who is master has to be asked before a connection can be made.
	failover.DialTimeout = 2 * o.DialTimeout
	failover.ConnMaxLifetime = masterTrusted
	return redis.NewFailoverClient(failover)
}

// boundedOptions bounds the driver, which by default sends one command up to four times and
// outlives its context's deadline by seconds.
func boundedOptions(o redis.UniversalOptions, opts Options) *redis.UniversalOptions {
	o.ContextTimeoutEnabled = true
	o.MaxRetries = -1
	o.DialerRetries = 1
	o.DialTimeout = opts.Timeout
	o.ReadTimeout = opts.Timeout
	o.WriteTimeout = opts.Timeout
	o.PoolTimeout = opts.Timeout
	o.ConnMaxIdleTime = idleConnection
	o.PipelinePoolSize = -1
	// RESP2: nothing here needs push messages, for which RESP3 looks twice with each command.
	o.Protocol = 2
	o.DisableIdentity = true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	if o.PoolSize == 0 {
		o.PoolSize = connectionsPerCPU * runtime.GOMAXPROCS(0)
	}
	if o.TLSConfig != nil && opts.TLS != nil {
		o.Dialer = secureDialer(opts, o.TLSConfig.InsecureSkipVerify)
	}
	return &o
}

// Shares reports whether an operation goes by a trip.
func (r *single) Shares(ctx context.Context, op string) bool {
	_, shares := r.rides(ctx, op)
	return shares
}

// rides reports whether an operation goes by a trip: one whose caller has the time for an answer, and if it writes, one that
// waits for no replicas, for those answer for what a connection wrote. end is when the caller leaves, if that is before a trip ends.
func (r *single) rides(ctx context.Context, op string) (end time.Time, rides bool) {
	if r.trips == nil || op != engine.OpGet && (r.replicas > 0 || op != engine.OpEach && op != engine.OpPutIfAbsent && op != engine.OpSwap && op != engine.OpPut) {
		return time.Time{}, false
	}
	if has, alone := engine.Bounds(ctx); alone || has > 0 && has < r.trips.least {
		return time.Time{}, false
	}
	end, ends := ctx.Deadline()
	if !ends {
		return time.Time{}, true
	}
	left := time.Until(end)
	if left >= r.bound {
		end = time.Time{}
	}
	return end, left >= r.trips.least
}

// carry has p answered, which bears so many bytes.
func (r *single) carry(ctx context.Context, op string, cargo int, p *passenger) error {
	end, rides := r.rides(ctx, op)
	if cargo > MostCargo || !rides {
		return r.alone(ctx, op, p)
	}
	p.end = end
	tells, err := r.trips.carry(p)
	if err != nil && !tells {
		return notToTell(err)
	}
	return err
}

// alone has the driver send what p asks.
func (r *single) alone(ctx context.Context, op string, p *passenger) error {
	bounded, cancel := context.WithTimeout(ctx, r.bound)
	defer cancel()
	w := newWrite(redis.NewCmd(bounded, p.request.arguments()...))
	var err error
	if op == engine.OpGet {
		err = r.client.Process(bounded, w.once) // for reads nobody waits at replicas
	} else {
		err = r.client.Process(bounded, w)
	}
	if p.wait = w.wait; err != nil && err != redis.Nil { // a Nil inside of another error is a sentinel's, that does not know the master
		return err
	}
	return p.answer.become(w.answer.Val())
}

func (r *single) PutIfAbsent(ctx context.Context, key string, value []byte, ttl time.Duration) (engine.Record, bool, error) {
	out, err := r.run(ctx, engine.OpPutIfAbsent, command{op: engine.WriteIfAbsent, key: key, value: value, ttl: ttl})
	if err != nil {
		return engine.Record{}, false, err
	}
	record, err := out.record(value)
	return record, out.done && err == nil, r.fail(ctx, engine.OpPutIfAbsent, err)
}

func (r *single) Swap(ctx context.Context, key string, version uint64, value []byte, ttl time.Duration) (engine.Record, error) {
	out, err := r.run(ctx, engine.OpSwap, command{op: engine.WriteIfVersion, key: key, version: version, value: value, ttl: ttl})
	switch {
	case err != nil:
		return engine.Record{}, err
	case !out.done && out.text == "":
		return engine.Record{}, engine.ErrNotFound
	}
	record, err := out.record(value)
	if err == nil && !out.done {
		return record, engine.ErrConflict
	}
	return record, r.fail(ctx, engine.OpSwap, err)
}

func (r *single) Put(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	_, err := r.run(ctx, engine.OpPut, command{op: engine.WriteAlways, key: key, value: value, ttl: ttl})
	return err
}

func (r *single) Delete(ctx context.Context, key string) error {
	return r.ask(ctx, engine.OpDelete, func(ctx context.Context) error {
		return r.client.Process(ctx, once{redis.NewIntCmd(ctx, "del", r.prefix+key)})
	})
}

func (r *single) Ping(ctx context.Context) error {
	return outage(r.ask(ctx, engine.OpPing, func(ctx context.Context) error { return r.client.Ping(ctx).Err() }))
}

// ask runs f within the bound of an operation, and words its error.
func (r *single) ask(ctx context.Context, op string, f func(ctx context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, r.bound)
	defer cancel()
	return r.fail(ctx, op, f(bounded))
}

// outage makes err count: a server that refuses even to say that it is there serves nobody. Only one that cannot
// save to its disk does so and reads on.
func outage(err error) error {
	if f, ok := errors.AsType[*engine.Fault](err); ok {
		if f.Reason == engine.ReasonDisk {
			return nil
		}
		f.Refusal = f.Reason == engine.ReasonBusy
	}
	return err
}

func (r *single) Close() error { return r.client.Close() }

const ClockKey = "clock"

var clockProgram = newProgram("return redis.call('TIME')")

// Now asks always the same of a cluster's nodes, which have a clock each.
func (r *single) Now(ctx context.Context) (time.Time, error) {
	var clock *redis.TimeCmd
	err := r.ask(ctx, engine.OpNow, func(ctx context.Context) error {
		return clockProgram.run(func(by, program any) error {
			clock = redis.NewTimeCmd(ctx, by, program, 1, r.prefix+ClockKey)
			return r.client.Process(ctx, once{clock})
		})
	})
	return clock.Val(), err
}

// once is a command that the driver does not send again after it may have arrived. Its client of a
// cluster would, whatever MaxRetries says: it takes a broken connection for a redirection.
// Redirections are still followed: a server that redirects has not executed it.
type once struct{ redis.Cmder }

// NoRetry implements redis.Cmder.
func (once) NoRetry() bool { return true }
