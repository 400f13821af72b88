//go:build linux

package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"berth/integration/bench/contender"
	"berth/integration/bench/load"
	"berth/integration/bench/profile"
)

// profileSeconds are for how long a profile is taken: some 1,000 samples a column, so that a share of 10 % is right by 1 %.
const profileSeconds = 10

// profileKind tells what berth's CPU time goes into at the kind that the options name, and which system calls it makes,
// beside nginx.
func (b *bench) profileKind() ([]block, error) {
	k, err := b.loop(b.profile)
	if err != nil {
		return nil, err
	}
	var shares, calls []profile.Column
	for _, c := range b.present(k) {
		if !b.profiles(c) {
			continue
		}
		c.Profiled = c.Product == contender.Berth
		share, call, err := b.profileOne(k, c)
		if err != nil {
			return nil, fmt.Errorf("bench: %s: %w", c.Name(), err)
		}
		if c.Profiled {
			shares = append(shares, profile.Column{Name: c.Name(), Values: share})
		}
		if call != nil {
			calls = append(calls, profile.Column{Name: c.Name(), Values: call})
		}
	}
	return profileBlocks(k.name, shares, calls), nil
}

// loop is the kind of a name, which must be one whose work is asked for again and again.
func (b *bench) loop(name string) (kind, error) {
	k, err := named(name, kinds())
	if err == nil && k.prepare == nil {
		err = fmt.Errorf("bench: %s is no loop that could be profiled", name)
	}
	return k, err
}

// profiles reports whether a contender has a column in the tables. Berths with a store have one where profiles are kept,
// for who reads those.
func (b *bench) profiles(c contender.Contender) bool {
	switch {
	case c.Quiet, c.Watched:
		return false
	case c.Product == contender.Berth:
		return c.Store == "" || b.pprof != ""
	}
	return c.Product == contender.Nginx
}

func profileBlocks(work string, shares, calls []profile.Column) []block {
	return []block{{"profile", profile.SharesTable(work, shares)}, {"calls", profile.CallsTable(work, calls)}}
}

// profileOne takes the shares of a contender's CPU time, if it serves profiles, and its system calls a unit, if there is
// a program that counts them.
func (b *bench) profileOne(k kind, c contender.Contender) (shares, calls map[string]float64, err error) {
	proxy, ops, end, err := b.begin(k, c)
	defer end()
	if err != nil {
		return nil, nil, err
	}
	if c.Profiled {
		file := b.profileFile(k, c, "pprof")
		if err := takeProfile(proxy, ops, file); err != nil {
			return nil, nil, err
		}
		if shares, err = profile.Shares(file); err != nil {
			return nil, nil, err
		}
	}
	var result load.Result
	calls, err = profile.Calls(proxy.PID(), func() error {
		result = load.Saturate(ops, b.duration)
		return result.Err
	})
	for name := range calls {
		calls[name] /= float64(result.Units)
	}
	return shares, calls, err
}

// begin starts a contender, and has it do some work. end ends it, and is there whatever the error.
func (b *bench) begin(k kind, c contender.Contender) (proxy *contender.Running, ops []load.Op, end func(), err error) {
	started, err := contender.Start(c, b.site)
	if err != nil {
		return nil, nil, func() {}, err
	}
	clients, err := b.connect(started)
	end = func() { clients.close(); started.Stop() }
	if err != nil {
		return nil, nil, end, err
	}
	if ops, err = clients.ops(k, c); err != nil {
		return nil, nil, end, err
	}
	return started, ops, end, load.Saturate(ops, b.warmUp).Err
}

// profileFile is where a contender's profile of some format goes.
func (b *bench) profileFile(k kind, c contender.Contender, format string) string {
	if b.pprof == "" {
		return filepath.Join(b.site.Dir, "profile."+format)
	}
	name := strings.NewReplacer("/", "-", ", ", "-", " ", "-").Replace(k.name + "-" + c.Name())
	return filepath.Join(b.pprof, name+"."+format)
}

// takeProfile has a proxy write a profile of itself under load.
func takeProfile(proxy *contender.Running, ops []load.Op, file string) error {
	var result load.Result
	var loading sync.WaitGroup
	loading.Go(func() { result = load.Saturate(ops, profileSeconds*time.Second+time.Second) })
	err := proxy.Profile(file, profileSeconds)
	loading.Wait()
	return errors.Join(err, result.Err)
}
