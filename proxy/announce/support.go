package announce

import (
	"crypto/sha256"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

const (
	// supportLife is how long what a tool says of tasks counts without being heard again.
	supportLife = 5 * time.Minute
	// supportMiss is how long nobody is asked again for what a caller could not be told.
	supportMiss = 5 * time.Second
	// maxTools bounds the tools of a pool of which is kept what they say, and the questions to it that have failed.
	maxTools = 4096
)

// support is what berth has heard a pool's servers say of tasks themselves: their
// tools in lists, and they in their last answer to initialize. It is not kept in the
// store: another berth hears it from its own clients, or asks. The zero value is ready.
type support struct {
	mu    sync.Mutex // guards the fields below
	tools map[string]heard
	fails map[question]time.Time // questions that told nothing, and until when that counts
	tasks string                 // sticky.Binding.Tasks of the last session

	asking singleflight.Group
}

// question is a digest of who asks for which tool.
type question [sha256.Size]byte

// heard is what a tool says of tasks, "" for nothing.
type heard struct {
	says  string
	until time.Time // when it is to be heard again
}

// learn notes what a tool says.
func (s *support) learn(tool, says string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools = withRoom(s.tools)
	s.tools[tool] = heard{says, time.Now().Add(supportLife)}
}

// miss notes that a flight was told nothing of its tool: to it that says nothing, for a moment.
func (s *support) miss(flight string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = withRoom(s.fails)
	s.fails[sha256.Sum256([]byte(flight))] = time.Now().Add(supportMiss)
}

// missed reports whether a flight was told nothing just now.
func (s *support) missed(flight string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Before(s.fails[sha256.Sum256([]byte(flight))])
}

// withRoom returns a table that takes another entry: a full one loses any.
func withRoom[K comparable, V any](table map[K]V) map[K]V {
	if table == nil {
		return map[K]V{}
	}
	for one := range table {
		if len(table) < maxTools {
			break
		}
		delete(table, one)
	}
	return table
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
