//go:build linux

package main

import (
	"fmt"
	"time"

	"berth/integration/bench/contender"
	"berth/integration/bench/load"
	"berth/integration/bench/report"
)

const (
	// settling is what a proxy is given to put things in order once all streams are open.
	settling = 2 * time.Second

	// idling is how long idle streams are looked at: berth sends each one keep-alive meanwhile.
	idling = 15 * time.Second

	// arriving bounds the wait for what was sent.
	arriving = 5 * time.Second
)

// standing is a measurement of standing streams: what they cost at rest, and when events go down them in turn.
type standing struct {
	*bench
	kind   kind
	name   string // of the contender
	proxy  *contender.Running
	heard  *listeners
	sample report.Sample
}

func (b *bench) measureStreams(k kind, c contender.Contender, proxy *contender.Running) (report.Sample, error) {
	b.fleet.ForgetStreams()
	s := &standing{bench: b, kind: k, name: c.Name(), proxy: proxy, heard: new(listeners), sample: make(report.Sample)}
	defer s.heard.close()
	for _, step := range []func() error{s.open, s.rest, s.send} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return s.sample, nil
}

// note takes a value of the proxy, if there is one.
func (s *standing) note(m report.Metric, value float64) {
	if s.proxy.PID() != 0 {
		s.sample[m] = value
	}
}

// open opens all streams, and takes the memory that they need.
func (s *standing) open() error {
	if err := s.warm(s.proxy); err != nil {
		return err
	}
	before, err := resident(s.proxy)
	if err != nil {
		return err
	}
	if err := s.heard.open(s.proxy, s.streams); err != nil {
		return err
	}
	if got := s.fleet.Streams(); got != s.streams {
		return fmt.Errorf("%d streams reached the upstreams, want %d", got, s.streams)
	}
	time.Sleep(settling)
	after, err := resident(s.proxy)
	s.note(report.Each, float64(after-before)/(1<<10)/float64(s.streams))
	s.note(report.Resident, mebi(after))
	return err
}

// rest takes what open streams cost without an event, in the first round: it takes long, and varies little.
func (s *standing) rest() error {
	if _, known := s.resting[s.name]; known {
		return nil
	}
	idle, err := during(s.proxy, func() error {
		time.Sleep(idling)
		return nil
	})
	if err != nil {
		return err
	}
	s.resting[s.name] = idle
	s.note(report.Idle, micros(idle)/idling.Seconds()/float64(s.streams))
	return nil
}

// send takes what an event costs beyond that, and how long it takes.
func (s *standing) send() error {
	rate := s.kind.pace * s.rate
	n := int(rate * s.duration.Seconds())
	start := time.Now()
	busy, err := during(s.proxy, func() error { return s.tellAll(rate, n) })
	if err != nil {
		return err
	}
	resting := s.resting[s.name].Seconds() / idling.Seconds() * time.Since(start).Seconds()
	s.note(report.CPU, (busy.Seconds()-resting)*1e6/float64(n))
	delays := s.heard.delays()
	s.sample[report.PacedP50] = micros(report.Quantile(delays, 0.5))
	s.sample[report.PacedP99] = micros(report.Quantile(delays, 0.99))
	return nil
}

// tellAll sends n events down the streams in turn, and waits until all have arrived.
func (s *standing) tellAll(rate float64, n int) error {
	sent := 0
	var failed error
	err := load.Tick(rate, n, func(time.Time) {
		if err := s.fleet.Tell(sent); err != nil {
			failed = err
		}
		sent++
	})
	if err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	return await("events came", n, arriving, s.heard.came)
}
