package announce

import (
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

const (
	// supportLife is how long what a tool says of tasks counts without being heard again.
	supportLife = 5 * time.Minute
	// supportMiss is how long nobody is asked again for what could not be heard.
	supportMiss = 5 * time.Second
	// maxTools bounds the tools of a pool of which is kept what they say.
	maxTools = 4096
)

// support is what berth has heard a pool's servers say of tasks themselves: their
// tools in lists, and they in their last answer to initialize. It is not kept in the
// store: another berth hears it from its own clients, or asks. The zero value is ready.
type support struct {
	mu    sync.Mutex // guards the fields below
	tools map[string]heard
	tasks string // sticky.Binding.Tasks of the last session

	asking singleflight.Group
}

// heard is what a tool says of tasks, "" for nothing.
type heard struct {
	says  string
	until time.Time // when it is to be heard again
}

// learn notes what a tool says.
func (s *support) learn(tool, says string) {
	s.keep(tool, heard{says, time.Now().Add(supportLife)})
}

// miss notes that nobody could tell what a tool says: then it says nothing, for a moment.
func (s *support) miss(tool string) {
	s.keep(tool, heard{"", time.Now().Add(supportMiss)})
}

func (s *support) keep(tool string, h heard) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tools == nil || len(s.tools) >= maxTools {
		s.tools = map[string]heard{}
	}
	s.tools[tool] = h
}

// of returns what a tool says; known is false if that is to be heard first.
func (s *support) of(tool string) (says string, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, ok := s.tools[tool]
	return h.says, ok && time.Now().Before(h.until)
}

// promise notes what the answer to an initialize promises of tasks.
func (s *support) promise(tasks string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tasks = tasks
}

// promised returns what the last answer to an initialize promised, "" if there was none.
func (s *support) promised() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tasks
}
