package command

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"berth/internal/admin"
	"berth/internal/adminapi"
	"berth/internal/api"
	"berth/internal/build"
	"berth/internal/bulletin"
)

// self is what a berth tells of itself beside what its parts know. It is filled before anything runs.
type self struct {
	listen  string
	started time.Time
	checks  func() []admin.Check
	left    func() left      // what is under way
	read    func() time.Time // when the configuration in use was read
	leaves  atomic.Bool      // it is on its way out
}

func (s *site) newBoard() *bulletin.Board {
	return bulletin.New(bulletin.Options{Store: s.store, Name: s.mailbox.Name(), Own: s.own, Log: s.log})
}

// introduce has the berth's bulletin tell of this process.
func (p *process) introduce(listen string) {
	me := &p.site.self
	me.listen, me.started, me.checks, me.left = listen, time.Now().UTC(), p.checks, p.left
	me.read = p.reloader.read
}

// own is what this berth says of itself now.
func (s *site) own() api.Berth {
	b := api.Berth{
		Host: hostAndProcess(), Listen: s.self.listen, Version: build.Version, Started: s.self.started, State: bulletin.Serving,
		Sees: bulletin.Sights(s.pools()), Troubles: adminapi.TroublesOf(s.troubles),
	}
	if s.self.leaves.Load() {
		b.State = bulletin.Draining
	}
	if s.self.left != nil {
		l := s.self.left()
		b.Requests, b.Streams, b.Held = int(l.requests), int(l.streams), int(l.held)
	}
	if g := s.now.Load(); g != nil {
		b.Config = g.digest
	}
	if s.self.read != nil {
		b.ConfigRead = s.self.read().UTC()
	}
	b.Ready, _ = s.ready()
	return b
}

// ready is what /readyz says, and why it does not say yes.
func (s *site) ready() (ready bool, why []string) {
	if s.self.leaves.Load() {
		return false, []string{"draining"}
	}
	if s.self.checks == nil {
		return true, nil
	}
	for _, check := range s.self.checks() {
		if ok, detail := check.Probe(); !ok {
			why = append(why, check.Name+": "+strings.Join(strings.Fields(detail), " "))
		}
	}
	return len(why) == 0, why
}

func hostAndProcess() string {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return fmt.Sprintf("%s:%d", host, os.Getpid())
}
