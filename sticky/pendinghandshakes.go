package sticky

import "sync"

// maxPendingHandshakes bounds what an outage may pile up of them, in bytes. The session of one beyond it is not moved.
const maxPendingHandshakes = 64 << 20

// pendingHandshakes are those of sessions that were made while the store was away, to be written back before their bindings.
// The zero value has none.
type pendingHandshakes struct {
	mu    sync.Mutex // guards the fields below
	texts map[Key]pendingHandshake
	size  int // of all texts
}

type pendingHandshake struct {
	session Key
	text    string
	over    bool // one that was changed since is written already
}

// add keeps a session's handshake, and reports whether there was room.
func (p *pendingHandshakes) add(session Key, text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.put(pendingHandshake{session: session, text: text})
}

// put is add of one that may be kept already. It is called with the lock held.
func (p *pendingHandshakes) put(h pendingHandshake) bool {
	size := p.size - len(p.texts[h.session].text) + len(h.text)
	if size > maxPendingHandshakes {
		return false
	}
	if p.texts == nil {
		p.texts = make(map[Key]pendingHandshake)
	}
	p.texts[h.session], p.size = h, size
	return true
}

func (p *pendingHandshakes) get(session Key) (text string, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h, ok := p.texts[session]
	return h.text, ok
}

// revise has change make the next one of a session's; nil drops it. pends is false if there is none.
func (p *pendingHandshakes) revise(session Key, change func(handshake []byte) ([]byte, error)) (pends bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h, pends := p.texts[session]
	if !pends {
		return false, nil
	}
	next, err := change([]byte(h.text))
	if err != nil {
		return true, err
	}
	if h.text = string(next); next == nil || !p.put(h) {
		p.forget(session)
	}
	return true, nil
}

func (p *pendingHandshakes) remove(session Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget(session)
}

// forget is remove with the lock held.
func (p *pendingHandshakes) forget(session Key) {
	p.size -= len(p.texts[session].text)
	delete(p.texts, session)
}

// some returns at most n of them, any.
func (p *pendingHandshakes) some(n int) []pendingHandshake {
	p.mu.Lock()
	defer p.mu.Unlock()
	return someOf(p.texts, n)
}

// settle forgets h, which is written, unless it was changed since it was read. It reports whether it was removed by then.
func (p *pendingHandshakes) settle(h pendingHandshake) (removed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	have, ok := p.texts[h.session]
	switch {
	case !ok:
		return true
	case have == h:
		p.forget(h.session)
	default:
		have.over = true
		p.texts[h.session] = have
	}
	return false
}

func (p *pendingHandshakes) len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.texts)
}
