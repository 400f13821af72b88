package stdio

import (
	"context"
	"errors"
	"time"

	"berth/internal/mcp"
	"berth/internal/mcp/eras"
)

// Trouble is what is wrong with the command: the last process did not start, or several have died again and again and nothing has served
// a client since. nil: nothing, as far as is known.
func (s *Server) Trouble() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.breaker.trouble == "" {
		return nil
	}
	return errors.New("stdio: " + s.breaker.trouble)
}

// Revive is Trouble, once it has tried whether that is over: where something is wrong, a process is started for that, as soon as one may be.
// ctx bounds the wait for it, and not the process.
func (s *Server) Revive(ctx context.Context) error {
	if p := s.tryOut(); p != nil {
		select {
		case <-p.ready:
		case <-ctx.Done():
		}
	}
	return s.Trouble()
}

// tryOut returns the process that shows whether the command starts; nil: none is due.
func (s *Server) tryOut() *peer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.trial == nil && s.breaker.trouble != "" && s.noRoom() == nil && s.breaker.admitTrial(time.Now()) {
		s.trial = s.begin(trialOpening, 0, nil)
		s.trial.trial = true
		go func(p *peer) {
			<-p.ready
			s.mu.Lock()
			defer s.mu.Unlock()
			s.trial = nil
			p.stop("it has shown that it starts")
		}(s.trial)
	}
	return s.trial
}

var trialOpening = eras.InitializeFor([]byte("0"), mcp.VersionCoreTasks, []byte("{}"), nil)

// died notes a death for which the command may be to blame, before the process had answered initialize or after that.
func (s *Server) died(p *peer, how string, unborn bool) {
	if !p.trial {
		s.breaker.died(time.Now(), unborn)
	}
	told := how
	if !unborn { // on its stderr there may be what a caller sent
		told = p.process.How()
	}
	s.breaker.blame(how, told, unborn)
	if s.breaker.deaths == quickDeaths && !p.trial {
		s.options.Logger.Warn("stdio process dies again and again: it is tried now and then", "every", s.options.Restart.String())
	}
}
