package realtest

import (
	"bytes"
	"strings"
	"sync"
)

// Journal is a log that a test reads while it is written. The zero value is empty.
type Journal struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

// Write appends to the journal. It never fails.
func (j *Journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

// String is all that was written so far.
func (j *Journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// Count tells how often text was written so far.
func (j *Journal) Count(text string) int { return strings.Count(j.String(), text) }
