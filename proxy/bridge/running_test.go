package bridge

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"berth/proxy/bridge/rounds"
)

// line is one event stream. Its events are kept, and one reader at a time gets them.
type line struct {
	name   string
	events []string
	over   bool          // nothing comes any more
	read   bool          // somebody reads
	cut    chan struct{} // closed to break the reader off
}

// get opens a session's own stream, or goes on with any.
func (u *upstream) get(w http.ResponseWriter, r *http.Request, s *served) {
	name, at, _ := strings.Cut(r.Header.Get("Last-Event-ID"), "/")
	from := 0
	if name == "" {
		name = "own"
	} else {
		from, _ = strconv.Atoi(at)
	}
	u.mu.Lock()
	l := s.streams[name]
	if name == "own" && at == "" {
		from = len(l.events)
	}
	u.mu.Unlock()
	if l == nil {
		respond(w, 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Invalid event id"}}`)
		return
	}
	u.show(w, r, l, from)
}

// show writes a stream from an event on until it is over, or its reader gone.
func (u *upstream) show(w http.ResponseWriter, r *http.Request, l *line, from int) {
	u.mu.Lock()
	if l.read {
		u.mu.Unlock()
		w.WriteHeader(409)
		return
	}
	l.read, l.cut = true, make(chan struct{})
	cut := l.cut
	u.mu.Unlock()
	defer func() {
		u.mu.Lock()
		l.read = false
		u.mu.Unlock()
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(200)
	if !u.plain && !u.bare {
		fmt.Fprintf(w, "id: %s/%d\ndata:\n\n", l.name, from)
	}
	for {
		_ = http.NewResponseController(w).Flush()
		u.mu.Lock()
		events, over, wakes := l.events[from:], l.over, u.wakes
		u.mu.Unlock()
		for _, e := range events {
			if from++; !u.plain {
				fmt.Fprintf(w, "id: %s/%d\n", l.name, from)
			}
			fmt.Fprintf(w, "data: %s\n\n", e)
		}
		if len(events) > 0 {
			continue
		}
		if over {
			return
		}
		select {
		case <-wakes:
		case <-cut:
			panic(http.ErrAbortHandler)
		case <-r.Context().Done():
			return
		}
	}
}

// running is a call of a tool's.
type running struct {
	u      *upstream
	s      *served
	id     string
	token  string // for its progress; "": none
	body   string // the request
	line   *line
	ctx    context.Context // ended by its cancellation
	stop   context.CancelFunc
	result string // what it answers with, result or error as a member
	status int    // of HTTP, where that is not 200
}

// run runs a tool and shows its answer.
func (u *upstream) run(w http.ResponseWriter, r *http.Request, s *served, m message, tool func(k *running)) {
	k := &running{u: u, s: s, id: string(m.ID), token: string(m.Params.Meta.Token), result: `"result":{"content":[]}`}
	k.ctx, k.stop = context.WithCancel(u.life)
	u.mu.Lock()
	k.body = u.requests[len(u.requests)-1].body
	k.line = &line{name: "c" + strconv.Itoa(len(s.streams))}
	s.streams[k.line.name], s.running[k.id] = k.line, k
	u.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer k.stop()
		tool(k)
		if k.ctx.Err() == nil && k.result != "" {
			k.say(`{"jsonrpc":"2.0","id":` + k.id + `,` + k.result + `}`)
		}
		u.mu.Lock()
		defer u.mu.Unlock()
		delete(s.running, k.id)
		k.line.over = k.ctx.Err() == nil // a cancelled call's stream is left open
		u.wake()
	}()
	if u.late {
		time.Sleep(rounds.Together / 2)
	}
	if !u.whole {
		u.show(w, r, k.line, 0)
		return
	}
	select {
	case <-done:
	case <-r.Context().Done():
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if n := len(k.line.events); n > 0 {
		respond(w, max(200, k.status), k.line.events[n-1])
	}
}

// say sends a message down the call's stream.
func (k *running) say(text string) {
	k.u.mu.Lock()
	defer k.u.mu.Unlock()
	k.line.events = append(k.line.events, text)
	k.u.wake()
}

// aside sends a message down the session's own stream.
func (k *running) aside(text string) {
	k.u.mu.Lock()
	defer k.u.mu.Unlock()
	k.s.own.events = append(k.s.own.events, text)
	k.u.wake()
}

// question makes a request to the client, whose answer comes from the channel.
func (k *running) question(method, params string) (text, id string, answer chan message) {
	k.u.mu.Lock()
	defer k.u.mu.Unlock()
	id = strconv.Itoa(k.s.asked)
	k.s.asked++
	answer = make(chan message, 1)
	k.s.answers[id] = answer
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params), id, answer
}

// wait is the answer; the zero message if the call is cancelled first.
func (k *running) wait(answer chan message) message {
	select {
	case m := <-answer:
		return m
	case <-k.ctx.Done():
		return message{}
	}
}

const (
	formAsk   = `{"message":"who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}`
	sampleAsk = `{"messages":[],"maxTokens":1}`
)

// ask asks the user on the call's stream.
func (k *running) ask() message {
	text, _, answer := k.question("elicitation/create", formAsk)
	k.say(text)
	return k.wait(answer)
}

// askAside asks the user on the session's own stream.
func (k *running) askAside() message {
	text, _, answer := k.question("elicitation/create", formAsk)
	k.aside(text)
	return k.wait(answer)
}

// answers has the call end with what it was answered.
func (k *running) ends(with ...message) {
	var all []string
	for _, m := range with {
		all = append(all, string(m.Result)+string(m.Error))
	}
	k.result = `"result":{"got":[` + strings.Join(all, ",") + `]}`
}

// breakOff breaks the connection on which the call's stream is read.
func (k *running) breakOff() {
	k.u.mu.Lock()
	defer k.u.mu.Unlock()
	if k.line.read {
		close(k.line.cut)
	}
}

// progress tells how far the call is.
func (k *running) progress(n int) {
	if k.token != "" {
		k.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`, k.token, n))
	}
}
