package site

import (
	"fmt"
	"os"
	"strings"
	"time"

	"berth/internal/admin"
	"berth/internal/adminapi"
	"berth/internal/api"
	"berth/internal/build"
	"berth/internal/bulletin"
)

// Self is what a berth tells of itself beside what its parts know. It is filled before anything runs.
type Self struct {
	Listen  string
	Started time.Time
	Checks  func() []admin.Check // all conditions of readiness
	Read    func() time.Time     // when the configuration in use was read
}

// Introduce has the berth's bulletin tell of this process.
func (s *Site) Introduce(me Self) { s.self = me }

// own is what this berth says of itself now.
func (s *Site) own() api.Berth {
	b := api.Berth{
		Host: hostAndProcess(), Listen: s.self.Listen, Version: build.Version, Started: s.self.Started, State: bulletin.Serving,
		Sees: bulletin.Sights(s.pools()), Troubles: adminapi.TroublesOf(s.Troubles),
	}
	if s.leaves.Load() {
		b.State = bulletin.Draining
	}
	if g := s.now.Load(); g != nil {
		b.Config = g.digest
		l := s.Left()
		b.Requests, b.Streams, b.Held = int(l.Requests), int(l.Streams), int(l.Held)
	}
	if s.self.Read != nil {
		b.ConfigRead = s.self.Read().UTC()
	}
	b.Ready, _ = s.ready()
	return b
}

// ready is what /readyz says, and why it does not say yes.
func (s *Site) ready() (ready bool, why []string) {
	if s.leaves.Load() {
		return false, []string{"draining"}
	}
	if s.self.Checks == nil {
		return true, nil
	}
	for _, check := range s.self.Checks() {
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
