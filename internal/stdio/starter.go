package stdio

import (
	"errors"
	"os/exec"
	"runtime"
	"sync"
)

var errShutDown = errors.New("stdio: shut down")

// starter starts processes from one thread, which lives as long as they do: a process that is to
// die with its parent dies with the thread that started it (prctl(2), PR_SET_PDEATHSIG).
type starter struct {
	once  sync.Once
	ended sync.Once
	work  chan func()
	quit  chan struct{}
}

func newStarter() *starter { return &starter{work: make(chan func()), quit: make(chan struct{})} }

func (s *starter) start(cmd *exec.Cmd) error {
	s.once.Do(func() { go s.run() })
	result := make(chan error, 1)
	select {
	case s.work <- func() { result <- cmd.Start() }:
		return <-result
	case <-s.quit:
		return errShutDown
	}
}

func (s *starter) run() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for {
		select {
		case f := <-s.work:
			f()
		case <-s.quit:
			return
		}
	}
}

// close ends the thread's service. No process that it started may be left.
func (s *starter) close() { s.ended.Do(func() { close(s.quit) }) }
