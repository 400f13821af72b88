package upgrade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"
	"sync"
	"time"

	"berth/internal/exchange"
	"berth/routing"
)

// bounded ends the name of a call of which only so many may be under way at once.
const bounded = "-bounded"

// tool is what the held calls call: a server that knows nothing of tasks. What it does is
// told by the call's argument, as words for its rounds in order: "result", "error",
// "big:30" (KiB of a result), "ask:k,l", "bare", "hang", "break", "end", "say:1,2" (progress), "unsent"; each may wait,
// "result/2s". It counts what was executed.
type tool struct {
	upstreams []string
	pace      int // how much faster than told; 0: as told

	mu       sync.Mutex     // guards the fields below
	executed map[string]int // by call and stage
	rounds   map[string]int // by call and the request's JSON-RPC id
	inside   map[*execution]bool
	most     map[string]int // at once, by upstream
	ended    int            // exchanges that were closed before their end
	requests []sentRequest
}

// sentRequest is what the tool got.
type sentRequest struct {
	body    string
	headers map[string][]string
}

func newTool(upstreams ...string) *tool {
	if len(upstreams) == 0 {
		upstreams = []string{"u"}
	}
	return &tool{upstreams: upstreams, executed: map[string]int{}, rounds: map[string]int{}, inside: map[*execution]bool{}, most: map[string]int{}}
}

// request is what the tool reads of a call.
type request struct {
	ID     json.RawMessage
	Params struct {
		Arguments struct{ Do string }
		Meta      struct{ ProgressToken string } `json:"_meta"`
		// InputResponses are the client's.
		InputResponses map[string]json.RawMessage
		RequestState   string
	}
}

// execution is one round at the tool.
type execution struct {
	tool     *tool
	b        *berth
	ctx      context.Context
	request  request
	upstream string
	stage    int
	word     string
	wait     time.Duration
	said     []string
	over     bool
	closed   chan struct{}
	once     sync.Once
	bounded  bool
	leaves   <-chan struct{}
	excused  bool // its berth is not what it was, or was taken for dead: its place is another's
}

func (t *tool) send(ctx context.Context, b *berth, u *routing.Upstream, c *Call) (Exchange, error) {
	if !b.line.stand() {
		return nil, errDead
	}
	e := &execution{tool: t, b: b, ctx: ctx, upstream: u.Name, closed: make(chan struct{}), leaves: c.Leaves}
	if err := json.Unmarshal(c.Body, &e.request); err != nil {
		return nil, err
	}
	e.stage, _ = strconv.Atoi(e.request.Params.RequestState)
	words := strings.Fields(e.request.Params.Arguments.Do)
	word, wait, _ := strings.Cut(words[min(e.stage+1, len(words)-1)], "/")
	e.word = word
	e.wait, _ = time.ParseDuration(wait)
	e.wait /= time.Duration(max(t.pace, 1))
	if said, ok := strings.CutPrefix(word, "say:"); ok {
		e.said = strings.Split(said, ",")
	}
	if word == "unsent" {
		return nil, &exchange.SendError{Err: errors.New("nobody listens")}
	}
	t.begin(e, c)
	return e, nil
}

func (t *tool) begin(e *execution, c *Call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	name := strings.Fields(e.request.Params.Arguments.Do)[0]
	t.executed[fmt.Sprint(name, " ", e.stage)]++
	t.rounds[name+" "+string(e.request.ID)]++
	e.bounded = strings.HasSuffix(name, bounded)
	t.inside[e] = true
	now := 0
	for other := range t.inside {
		other.excused = other.excused || other.b.line.hasLapsed()
		if other.upstream == e.upstream && other.bounded && !other.excused {
			now++
		}
	}
	if e.bounded {
		t.most[e.upstream] = max(t.most[e.upstream], now)
	}
	t.requests = append(t.requests, sentRequest{string(c.Body), c.Headers().Lists()})
}

// excuse has the calls that are under way, of b or of all if that is nil, not count as
// such any more.
func (t *tool) excuse(b *berth) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for e := range t.inside {
		if b == nil || e.b == b {
			e.excused = true
		}
	}
}

func (t *tool) times(call string, stage int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.executed[fmt.Sprint(call, " ", stage)]
}

// sent is the request that came as the n-th, from 0.
func (t *tool) sent(n int) sentRequest {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.requests[n]
}

// count is how many requests came.
func (t *tool) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.requests)
}

// all are the executions, by call and stage.
func (t *tool) all() map[string]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.executed)
}

// atOnce is how many bounded calls were under way at an upstream, at most.
func (t *tool) atOnce(upstream string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.most[upstream]
}

// inflight counts the calls under way.
func (t *tool) inflight() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.inside)
}

// Next implements Exchange.
func (e *execution) Next() (Message, error) {
	var timer <-chan time.Time
	switch {
	case e.word == "hang":
	case e.wait > 0:
		timer = time.After(e.wait)
	default: // several timers of a bubble that are over as they begin crash the race detector of Go 1.26
		over := make(chan time.Time)
		close(over)
		timer = over
	}
	if e.word != "leave" {
		e.leaves = nil
	}
	select {
	case <-timer:
	case <-e.leaves:
	case <-e.closed:
		return Message{}, io.ErrClosedPipe
	case <-e.ctx.Done():
		e.leave(true)
		return Message{}, context.Cause(e.ctx)
	}
	if !e.b.line.stand() {
		return Message{}, errDead
	}
	if e.over {
		return Message{}, io.EOF
	}
	if len(e.said) > 0 {
		said := e.said[0]
		e.said = e.said[1:]
		said = fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%q,"progress":%s}}`, e.request.Params.Meta.ProgressToken, said)
		return Message{Data: []byte(said)}, nil
	}
	e.over = true
	e.leave(false)
	message, err := e.answer()
	return Message{Data: message}, err
}

func (e *execution) answer() ([]byte, error) {
	result := ""
	switch word, keys, _ := strings.Cut(e.word, ":"); word {
	case "break":
		return nil, io.ErrUnexpectedEOF
	case "end":
		return nil, io.EOF
	case "error":
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32001,"message":"the tool says no"}}`, e.request.ID), nil
	case "bare", "leave": // as soon as its berth would have it go on elsewhere
		result = fmt.Sprintf(`{"resultType":"input_required","requestState":"%d"}`, e.stage+1)
	case "ask":
		var asked []string
		for key := range strings.SplitSeq(keys, ",") {
			asked = append(asked, fmt.Sprintf(`%q:{"method":"roots/list"}`, key))
		}
		result = fmt.Sprintf(`{"resultType":"input_required","requestState":"%d","inputRequests":{%s}}`, e.stage+1, strings.Join(asked, ","))
	case "state": // of so many KiB, which asks
		n, _ := strconv.Atoi(keys)
		result = fmt.Sprintf(`{"resultType":"input_required","requestState":"%s%d","inputRequests":{"k":{"method":"roots/list"}}}`, strings.Repeat("0", n*kib-1), e.stage+1)
	case "wordy": // asks at such length
		n, _ := strconv.Atoi(keys)
		result = fmt.Sprintf(`{"resultType":"input_required","inputRequests":{"k":{"method":"roots/list","params":{"_meta":{"why":%q}}}}}`, strings.Repeat("?", n*kib))
	case "big":
		n, _ := strconv.Atoi(keys)
		result = fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, strings.Repeat("b", n*kib))
	default:
		result = fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, e.request.ID)
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, e.request.ID, result), nil
}

// Close implements Exchange.
func (e *execution) Close() { e.leave(true) }

func (e *execution) leave(closed bool) {
	e.once.Do(func() {
		close(e.closed)
		e.tool.mu.Lock()
		defer e.tool.mu.Unlock()
		delete(e.tool.inside, e)
		if closed {
			e.tool.ended++
		}
	})
}
