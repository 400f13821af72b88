package process

import (
	"errors"
	"os/exec"
	"runtime"
	"sync"
)

// ErrClosed says that a starter starts nothing any more.
var ErrClosed = errors.New("stdio: shut down")

// Starter starts processes from one thread, which lives as long as they do: a process that is to
// die with its parent dies with the thread that started it (prctl(2), PR_SET_PDEATHSIG).
type Starter struct {
	once  sync.Once
	ended sync.Once
	work  chan func()
	quit  chan struct{}
}

// NewStarter returns a starter whose thread begins with the first process.
func NewStarter() *Starter { return &Starter{work: make(chan func()), quit: make(chan struct{})} }

func (s *Starter) start(cmd *exec.Cmd) error {
	s.once.Do(func() { go s.run() })
	result := make(chan error, 1)
	select {
	case s.work <- func() { result <- cmd.Start() }:
		return <-result
	case <-s.quit:
		return ErrClosed
	}
}

func (s *Starter) run() {
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

// Close ends the thread's service. No process that it started may be left.
func (s *Starter) Close() { s.ended.Do(func() { close(s.quit) }) }
