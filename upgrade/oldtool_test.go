package upgrade

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// oldTool is a tool at an oldServer that plays by itself. What it does is told by the
// call's argument: its name, and then words in order: "say" (progress), "log", "ask:2"
// (as many questions at once, until all are answered), "retract" (a question that it
// takes back two seconds later), "cut" (its streams break), "result"; each may wait before,
// "result/2s". It goes on for as long as its session does, whoever listens.
type oldTool struct {
	*oldServer
	pace int // how much faster than told; 0: as told

	// Guarded by the server's lock.
	questions int
	waiting   map[string]chan struct{} // by raw id; closed with the answer
}

func newOldTool(pace int) *oldTool {
	t := &oldTool{oldServer: &oldServer{replays: true}, pace: max(pace, 1), waiting: map[string]chan struct{}{}}
	t.plays, t.hears = t.play, t.answered
	return t
}

// play is one execution.
func (t *oldTool) play(c *oldCall) {
	for n, step := range strings.Fields(c.request.Params.Arguments.Do)[1:] {
		step, wait, _ := strings.Cut(step, "/")
		before, _ := time.ParseDuration(wait)
		if !t.rest(c, before) {
			return
		}
		word, times, _ := strings.Cut(step, ":")
		switch word {
		case "say":
			c.progress(n)
		case "log":
			c.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":%d}}`, n)
		case "ask":
			t.ask(c, times)
		case "retract":
			t.retract(c)
		case "cut":
			c.hangUp()
		default:
			c.answer(fmt.Sprintf(`{"content":%q}`, c.name()))
		}
	}
}

// name is how the call is called.
func (c *oldCall) name() string { return strings.Fields(c.request.Params.Arguments.Do)[0] }

// rest waits, and reports whether anybody still wants the result.
func (t *oldTool) rest(c *oldCall, d time.Duration) bool {
	select {
	case <-c.gone:
		return false
	case <-time.After(d / time.Duration(t.pace)):
		return true
	}
}

func (t *oldTool) ask(c *oldCall, times string) {
	many, _ := strconv.Atoi(times)
	var answers []chan struct{}
	for range max(many, 1) {
		_, answer := t.question(c)
		answers = append(answers, answer)
	}
	for _, answer := range answers {
		select {
		case <-answer:
		case <-c.gone:
		}
	}
}

func (t *oldTool) retract(c *oldCall) {
	id, answer := t.question(c)
	select {
	case <-answer:
	case <-c.gone:
	case <-time.After(2 * time.Second / time.Duration(t.pace)):
		c.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id)
	}
}

// question asks, under an id that the server has used for nothing else.
func (t *oldTool) question(c *oldCall) (id string, answer chan struct{}) {
	t.mu.Lock()
	id, answer = strconv.Itoa(t.questions), make(chan struct{})
	t.questions++
	t.waiting[id] = answer
	t.mu.Unlock()
	c.ask(id)
	return id, answer
}

// answered takes a response or a notification that was posted.
func (t *oldTool) answered(posted []byte) {
	var m struct {
		ID     json.RawMessage
		Params struct{ RequestID json.RawMessage }
	}
	_ = json.Unmarshal(posted, &m) // berth's own messages, and the world's, are right
	t.mu.Lock()
	defer t.mu.Unlock()
	if answer := t.waiting[string(m.ID)]; answer != nil {
		close(answer)
		delete(t.waiting, string(m.ID))
	}
	for _, c := range t.calls {
		if len(m.Params.RequestID) > 0 && string(c.request.ID) == string(m.Params.RequestID) {
			c.leave()
		}
	}
}

// leave ends an execution. The caller has the server's lock.
func (c *oldCall) leave() {
	select {
	case <-c.gone:
	default:
		close(c.gone)
	}
}

// over ends a session, as its end at the server does: without an answer to its calls.
func (t *oldTool) over(session string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Contains(t.ended, session) {
		t.ended = append(t.ended, session)
	}
	for _, c := range t.calls {
		if c.session == session {
			c.leave()
			close(c.cut)
			c.cut = make(chan struct{})
		}
	}
}

// stop ends all executions.
func (t *oldTool) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.calls {
		c.leave()
	}
}

// ran counts the executions of a call.
func (t *oldTool) ran(name string) (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.calls {
		if c.name() == name {
			n++
		}
	}
	return n
}
