package connlimit

import "sync"

// addresses counts the connections of each address. "" stands for those that may
// hold any number.
type addresses struct {
	mu   sync.Mutex // guards the fields below
	each int        // 0: any number
	all  int
	held map[string]holding // of addresses that hold some
}

// holding is what one address holds.
type holding struct {
	open    int
	refused int // since it first held too many; 0: it does not
}

func newAddresses() *addresses { return &addresses{held: make(map[string]holding)} }

func (a *addresses) setEach(each int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.each = each
}

// enter counts a connection, unless it is one too many. first says that it is the
// first refused since the address held few, and most how many it may hold.
func (a *addresses) enter(address string) (ok, first bool, most int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if address == "" {
		a.all++
		return true, false, 0
	}
	h := a.held[address]
	if a.each > 0 && h.open >= a.each {
		h.refused++
		a.held[address] = h
		return false, h.refused == 1, a.each
	}
	a.all++
	h.open++
	a.held[address] = h
	return true, false, a.each
}

// leave counts a connection out. When an address that held too many is down to half
// of what it may hold, refused is how many it was refused: below that a caller at its
// limit would be told of each time that it closes a connection and opens another.
func (a *addresses) leave(address string) (refused int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all--
	if address == "" {
		return 0
	}
	h := a.held[address]
	h.open--
	if h.open <= a.each/2 || a.each == 0 {
		refused, h.refused = h.refused, 0
	}
	if a.held[address] = h; h.open == 0 {
		delete(a.held, address)
	}
	return refused
}

// open is how many connections there are.
func (a *addresses) open() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return int64(a.all)
}
