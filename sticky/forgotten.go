package sticky

import (
	"maps"
	"sync"
	"time"
)

// forgotten are the keys that this process has unbound a moment ago: a refresh that was told before puts none of them back.
type forgotten struct {
	mu sync.Mutex // guards the field below
	at map[Key]time.Time
}

const (
	forgottenFor  = time.Minute // longer than a refresh waits
	mostForgotten = 4096
)

func (f *forgotten) add(key Key) {
	now := time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.at) >= mostForgotten {
		maps.DeleteFunc(f.at, func(_ Key, at time.Time) bool { return now.Sub(at) > forgottenFor })
	}
	if f.at == nil || len(f.at) >= mostForgotten {
		f.at = map[Key]time.Time{}
	}
	f.at[key] = now
}

// remove takes back what add said: the key is bound.
func (f *forgotten) remove(key Key) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.at, key)
}

func (f *forgotten) has(key Key) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, ok := f.at[key]
	return ok && time.Since(at) <= forgottenFor
}
