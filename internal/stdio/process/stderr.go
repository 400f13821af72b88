package process

import (
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// LinesASecond is how many lines of a process's stderr go to the log.
const LinesASecond = 50

const (
	maxTail       = 2 << 10 // bytes of stderr that errors show
	maxLogged     = 1 << 10 // bytes of one line in the log
	logLineWindow = time.Second
)

// stderr keeps the end of what a process says there, and logs it, not more than there is use for.
type stderr struct {
	log *slog.Logger

	mu   sync.Mutex // guards tail
	tail []byte

	window time.Time // when counting began
	logged int       // lines since
	passed int       // lines since that were not logged
}

// read reads r to its end.
func (e *stderr) read(r io.Reader) {
	lines := newLineReader(r, maxLogged)
	for {
		line, cut, err := lines.next()
		if err != nil {
			e.tellPassed()
			return
		}
		text := strings.ToValidUTF8(strings.TrimRight(string(line), "\r"), "\ufffd")
		if cut {
			text += "…"
		}
		e.keep(text)
		if e.mayLog(time.Now()) && text != "" {
			e.log.Info("stdio process says on stderr", "line", text)
		}
	}
}

func (e *stderr) keep(line string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tail = append(append(e.tail, line...), '\n')
	if over := len(e.tail) - maxTail; over > 0 {
		e.tail = e.tail[:copy(e.tail, e.tail[over:])]
	}
}

func (e *stderr) mayLog(now time.Time) bool {
	if now.Sub(e.window) >= logLineWindow {
		e.tellPassed()
		e.window, e.logged = now, 0
	}
	if e.logged == LinesASecond {
		e.passed++
		return false
	}
	e.logged++
	return true
}

func (e *stderr) tellPassed() {
	if e.passed > 0 {
		e.log.Info("stdio process says more on stderr than is logged", "lines", e.passed)
	}
	e.passed = 0
}

// end returns the last of what was said, "" if nothing was.
func (e *stderr) end() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.TrimSpace(strings.ToValidUTF8(string(e.tail), ""))
}
