package share

import (
	"container/list"
	"strings"
	"sync"
	"time"

	"berth/sticky/binding"
)

// Shares are the shares of all callers. Its methods may be called concurrently. The zero value bounds nothing, and counts.
type Shares struct {
	mu    sync.Mutex // guards the fields below
	most  int64      // of one caller; 0: any
	by    map[string]*share
	items map[binding.Sum]*list.Element // of item, in the share of its caller
}

// share is what one caller keeps.
type share struct {
	caller string
	held   int64
	items  list.List // of *item, the one first that was looked at or used least recently
	full   time.Time // when it was; see SetFull
}

type item struct {
	key  binding.Key
	of   *share
	size int64
	used time.Time
}

// SetMost bounds what one caller may keep, in bytes; 0: any number. What is kept stays, be it more than that.
func (s *Shares) SetMost(bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.most = bytes
}

// Fits reports whether caller may keep key with that size, in the place of what is kept of it. The zero key is one that is not kept.
func (s *Shares) Fits(caller string, key binding.Key, size int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.by[caller]
	if s.most == 0 || own == nil {
		return s.most == 0 || size <= s.most
	}
	if have := s.items[key.Sum()]; have != nil && have.Value.(*item).of == own {
		size -= have.Value.(*item).size
	}
	return size <= 0 || own.held+size <= s.most
}

// Put has caller keep key with that size, in the place of what was kept of it. It is used now.
func (s *Shares) Put(caller string, key binding.Key, size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := key.Sum()
	s.drop(of)
	if s.by == nil {
		s.by, s.items = make(map[string]*share), make(map[binding.Sum]*list.Element)
	}
	own := s.by[caller]
	if own == nil {
		own = &share{caller: caller}
		s.by[caller] = own
	}
	own.held += size
	key.ID, key.Principal = strings.Clone(key.ID), strings.Clone(key.Principal) // a part of a request would keep all of it
	s.items[of] = own.items.PushBack(&item{key, own, size, time.Now()})
}

// Use notes that key is in use, if it is kept.
func (s *Shares) Use(key binding.Key) { s.UseAt(key, time.Now()) }

// UseAt notes that key was used then, and has it be the last one of its share, if it is kept.
func (s *Shares) UseAt(key binding.Key, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.items[key.Sum()]; e != nil {
		i := e.Value.(*item)
		i.used = at
		i.of.items.MoveToBack(e)
	}
}

// Drop forgets key.
func (s *Shares) Drop(key binding.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(key.Sum())
}

// drop is Drop with the lock held.
func (s *Shares) drop(of binding.Sum) {
	e := s.items[of]
	if e == nil {
		return
	}
	i := e.Value.(*item)
	i.of.items.Remove(e)
	i.of.held -= i.size
	delete(s.items, of)
	if i.of.items.Len() == 0 {
		delete(s.by, i.of.caller)
	}
}

// Oldest is what caller keeps that comes first in its share, and when it was used; false: nothing is kept.
func (s *Shares) Oldest(caller string) (key binding.Key, used time.Time, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.by[caller]
	if own == nil {
		return key, used, false
	}
	i := own.items.Front().Value.(*item)
	return i.key, i.used, true
}

// SetFull notes that caller's share was looked into, and has no room.
func (s *Shares) SetFull(caller string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if own := s.by[caller]; own != nil {
		own.full = time.Now()
	}
}

// WasFull reports whether that was so within the last while.
func (s *Shares) WasFull(caller string, while time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.by[caller]
	return own != nil && !own.full.IsZero() && time.Since(own.full) < while
}

// Sweep forgets what comes first in a share and was used for the last time before then.
func (s *Shares) Sweep(before time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, own := range s.by {
		for e := own.items.Front(); e != nil && e.Value.(*item).used.Before(before); e = own.items.Front() {
			s.drop(e.Value.(*item).key.Sum())
		}
	}
}
