package lending

import (
	"context"
	"errors"
	"sync"

	"berth/upgrade/task"
)

// ErrTooMuch says that what clients are being given fills the memory that may, this caller's above all.
var ErrTooMuch = errors.New("upgrade: too much is lent")

// Lending has the texts that clients are being given.
type Lending struct {
	most, each int64 // bytes, in all and of one caller; 0: any number

	mu  sync.Mutex // guards the fields below, and each one's readers and size
	all int64
	by  map[string]int64
	of  map[string]*Loan // by key
}

// Loan is a text that clients are being given.
type Loan struct {
	from        *Lending
	key, caller string
	readers     int
	size        int64
	ready       chan struct{} // closed when the fields below are set
	text        []byte
	err         error
}

// New returns the lending of so many bytes in all, and to each caller; 0: any number.
func New(most, each int64) *Lending {
	return &Lending{most: most, each: each, by: map[string]int64{}, of: map[string]*Loan{}}
}

// Borrow returns a text of a caller's, of about so many bytes, which the first reads and all who
// come while one has it share, until each has returned it. It fails with a *task.Refusal if there
// is no room for it, else as read does, or as ctx ends.
func (l *Lending) Borrow(ctx context.Context, key, caller string, size int64, read func() ([]byte, error)) (*Loan, error) {
	for {
		o, first, err := l.join(key, caller, size)
		if err != nil {
			return nil, err
		}
		if first {
			text, err := read()
			l.fill(o, text, err)
		}
		select {
		case <-o.ready:
		case <-ctx.Done():
			o.Return()
			return nil, context.Cause(ctx)
		}
		if o.err == nil {
			return o, nil
		}
		o.Return()
		if first {
			return nil, o.err // that of another may be its client's departure
		}
	}
}

// join makes its caller a reader, the first one if that is to read it.
func (l *Lending) join(key, caller string, size int64) (o *Loan, first bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if o = l.of[key]; o != nil {
		o.readers++
		return o, false, nil
	}
	if why := l.full(caller, size); why != "" {
		return nil, false, &task.Refusal{Err: ErrTooMuch, Reason: why}
	}
	o = &Loan{from: l, key: key, caller: caller, readers: 1, ready: make(chan struct{})}
	l.of[key] = o
	l.resize(o, size)
	return o, true, nil
}

// full returns which bound keeps n more bytes of a caller's from being lent, "" if none does.
// Half of the room is anybody's, the rest for who has less than an even share of it; and one
// text alone may be of any size. The caller has the lock, as of what follows.
func (l *Lending) full(caller string, n int64) string {
	own, callers := l.by[caller], int64(len(l.by))
	if own == 0 {
		callers++
	}
	switch {
	case l.most == 0, l.all == 0:
		return ""
	case l.each > 0 && own > 0 && own+n > l.each:
		return "caller_lent"
	case l.all+n <= l.most/2, l.all+n <= l.most+l.most/2 && (own == 0 || own+n <= l.most/callers):
		return ""
	}
	return "lent"
}

func (l *Lending) resize(o *Loan, size int64) {
	more := size - o.size
	o.size = size
	l.all += more
	if l.by[o.caller] += more; l.by[o.caller] <= 0 {
		delete(l.by, o.caller)
	}
}

// fill has the readers go on. One that could not be read is there for nobody else.
func (l *Lending) fill(o *Loan, text []byte, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o.text, o.err = text, err
	l.resize(o, int64(len(text)))
	if err != nil {
		delete(l.of, o.key)
	}
	close(o.ready)
}

// Return notes that a reader is done, once for each Borrow.
func (o *Loan) Return() {
	l := o.from
	l.mu.Lock()
	defer l.mu.Unlock()
	if o.readers--; o.readers > 0 {
		return
	}
	l.resize(o, 0)
	if l.of[o.key] == o {
		delete(l.of, o.key)
	}
}

// Text is what is lent, until it is returned.
func (o *Loan) Text() []byte { return o.text }

// Total is how many bytes are lent.
func (l *Lending) Total() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all
}

// AboveEven reports whether a caller has at least an even share of what is lent.
func (l *Lending) AboveEven(caller string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := l.by[caller]
	return own > 0 && own*int64(len(l.by)) >= l.all
}
