package reply

import (
	"strconv"
	"time"

	"berth/internal/mcp"
)

const (
	// progressEvery is how often berth tells progress of its own. Clients commonly give up
	// after 60 s without any.
	progressEvery = 15 * time.Second

	// progressSteps is how many of berth's own tellings make a progress of 1. Progress
	// must not fall (2026-07-28, "Progress"), and what the tool tells is to be more.
	progressSteps = 1e6
)

// Progress keeps a request alive whose client counts only progress, for as long as the tool
// tells none. The zero value tells nothing.
type Progress struct {
	token []byte           // of the request; nil: it gave none
	due   <-chan time.Time // progress is due; nil: none is
	told  int              // how often it was told; 0 as well once the tool tells more
}

// Begin has progress be told from now on, if the request gave a token for it.
func (p *Progress) Begin(token []byte) {
	if p.token = token; token != nil {
		p.due = time.Tick(progressEvery)
	}
}

// Rest ends it: the tool tells of its own.
func (p *Progress) Rest() { p.due = nil }

// Due is sent to when progress is due.
func (p *Progress) Due() <-chan time.Time { return p.due }

// Next returns the next progress of berth's own, a notification.
func (p *Progress) Next() []byte { return mcp.NewProgress(p.token, p.next(), "") }

func (p *Progress) next() string {
	p.told++
	return strconv.FormatFloat(p.last(), 'f', -1, 64)
}

func (p *Progress) last() float64 { return float64(p.told) / progressSteps }

// Observe returns what the tool tells, a notification, as the client is to get it: with berth's next number where its own
// is not above what berth told, as the first 0 is not. Where that changes nothing, the tool tells of its own from now on.
func (p *Progress) Observe(message []byte) (told []byte, changed bool) {
	said, _ := mcp.PeekProgress(message)
	if number, _ := strconv.ParseFloat(said.Progress, 64); p.told > 0 && number <= p.last() {
		return mcp.WithProgress(message, p.next()), true
	}
	p.told = 0
	p.Rest()
	return message, false
}
