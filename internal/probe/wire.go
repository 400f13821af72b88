package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"time"

	"berth/internal/client"
	"berth/internal/exchange"
	"berth/internal/mcp"

	"golang.org/x/time/rate"
)

const (
	connectWithin = 5 * time.Second
	answerWithin  = 10 * time.Second // from the sending of a request to the end of its answer

	// longestWait is what Retry-After may ask for before cleaning up.
	longestWait = 15 * time.Second
)

// Why a run ends early.
var (
	errUnauthorized = errors.New("it answers 401: it wants credentials (--header)")
	errThrottled    = errors.New("it answers 429: asked to slow down, the probe stopped")
	errUnreachable  = fmt.Errorf("%d requests in a row got no answer that can be read", maxFailures)
	errBudget       = errors.New("all requests that a run may send are sent")
	errTime         = errors.New("the time is over")
	errInterrupted  = errors.New("it was interrupted")
)

// scope is where and by whom a message is sent. The zero value is the first principal
// in no session.
type scope struct {
	version string      // the revision that is spoken; empty before it is agreed on
	session *session    // nil: none
	header  http.Header // of another principal than the first; nil: the first's
	kept    bool        // on the kept connection
	second  bool        // at the second address
}

// wire sends a run's requests, one at a time. It is for one goroutine.
type wire struct {
	options Options
	header  http.Header // of the first principal
	pace    *rate.Limiter
	client  *exchange.Client

	sent     int           // requests so far
	most     int           // that may be sent by now
	id       int           // the last JSON-RPC id
	failures int           // in a row
	halt     error         // why nothing more is to be sent
	wait     time.Duration // what the server asked to wait for
	hints    hints
}

func newWire(o Options) *wire {
	w := &wire{options: o, most: o.maxMeasuring(), pace: rate.NewLimiter(rate.Limit(o.Rate), 1)}
	w.client = exchange.NewClient(connectWithin)
	if o.Dial != nil {
		w.client = exchange.NewClientOver(o.Dial, connectWithin)
	}
	var first http.Header
	if len(o.Principals) > 0 {
		first = o.Principals[0]
	}
	w.header = merged(o.Header, first)
	return w
}

// merged is both headers; where both have one, b's counts.
func merged(a, b http.Header) http.Header {
	all := a.Clone()
	if all == nil {
		all = http.Header{}
	}
	maps.Copy(all, b)
	return all
}

func (w *wire) close() { w.client.Close() }

// request sends a JSON-RPC request and reads the answer.
func (w *wire) request(ctx context.Context, s scope, method string, params map[string]any) reply {
	w.id++
	return w.call(ctx, s, client.Message{ID: w.id, Method: method, Params: params})
}

// notify sends a notification.
func (w *wire) notify(ctx context.Context, s scope, method string) reply {
	return w.call(ctx, s, client.Message{Method: method})
}

func (w *wire) call(ctx context.Context, s scope, m client.Message) reply {
	m.Version = s.version
	if s.session != nil {
		m.Session = s.session.id
	}
	if err := w.admit(ctx); err != nil {
		return reply{err: err, unsent: true}
	}
	if m.Method == mcp.MethodCallTool || m.Method == mcp.MethodInitialize {
		// What is made must be known in order to be cleaned up: an interruption waits.
		ctx = context.WithoutCancel(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	endpoint := w.endpoint(s)
	answer, err := endpoint.Call(ctx, m)
	return w.note(s, reply{answer: answer, err: err, wanted: m.ID != 0})
}

// bare sends a request without a body in a session and reads nothing but the head.
func (w *wire) bare(ctx context.Context, s scope, method string) reply {
	if err := w.admit(ctx); err != nil {
		return reply{err: err, unsent: true}
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	endpoint := w.endpoint(s)
	request, err := http.NewRequestWithContext(ctx, method, endpoint.URL, nil)
	if err != nil {
		return reply{err: err, unsent: true}
	}
	request.Header = endpoint.Header.Clone()
	request.Header.Set(mcp.HeaderVersion, s.version)
	request.Header.Set(mcp.HeaderSession, s.session.id)
	if method == http.MethodGet {
		request.Header.Set("Accept", "text/event-stream")
	}
	response, err := endpoint.Send(request)
	if err != nil {
		return w.note(s, reply{err: err})
	}
	defer response.Body.Close()
	return w.note(s, reply{answer: &client.Answer{Status: response.StatusCode, Header: response.Header}})
}

// open sends a request whose answer is a stream. The stream lasts until ctx ends or its
// reader calls stop, which it must. Anything but a stream is a reply, and stop is nil.
func (w *wire) open(ctx context.Context, s scope, method string, params map[string]any) (stream *http.Response, stop context.CancelFunc, r reply) {
	if err := w.admit(ctx); err != nil {
		return nil, nil, reply{err: err, unsent: true}
	}
	w.id++
	ctx, cancel := context.WithCancelCause(ctx)
	stop = func() { cancel(nil) }
	limit := time.AfterFunc(answerWithin, func() { cancel(context.DeadlineExceeded) }) // for what is no stream
	endpoint := w.endpoint(s)
	request, err := endpoint.Post(ctx, client.Message{Version: s.version, ID: w.id, Method: method, Params: params})
	if err == nil {
		stream, err = endpoint.Send(request)
	}
	if err == nil && stream.StatusCode == http.StatusOK && client.IsStream(stream) && limit.Stop() {
		return stream, stop, w.note(s, reply{answer: &client.Answer{Status: stream.StatusCode, Header: stream.Header}})
	}
	defer stop()
	if err != nil {
		return nil, nil, w.note(s, reply{err: err})
	}
	defer stream.Body.Close()
	answer, err := client.Read(stream, w.id)
	return nil, nil, w.note(s, reply{answer: answer, err: err, wanted: true})
}

func (w *wire) endpoint(s scope) client.Endpoint {
	e := client.Endpoint{URL: w.options.URL, Name: "berth probe", Header: w.header}
	if s.second {
		e.URL = w.options.Second
	}
	if s.header != nil {
		e.Header = merged(w.options.Header, s.header)
	}
	e.Send = func(request *http.Request) (*http.Response, error) {
		request.Close = !s.kept
		return w.client.Do(request, answerWithin)
	}
	return e
}

// admit waits for a request's turn, or says why it has none.
func (w *wire) admit(ctx context.Context) error {
	switch {
	case w.halt != nil:
		return w.halt
	case w.sent >= w.most:
		w.halt = errBudget
		return errBudget
	}
	if err := w.pace.Wait(ctx); err != nil {
		return cmp.Or(context.Cause(ctx), errTime) // the limiter refuses to wait beyond a deadline
	}
	w.sent++
	return nil
}

// note learns from a reply, above all whether to go on. That another principal than the
// first may not do something is no reason to stop.
func (w *wire) note(s scope, r reply) reply {
	r.scope = s
	if r.err != nil {
		if w.failures++; w.failures >= maxFailures {
			w.halt = errUnreachable
		}
		return r
	}
	w.failures = 0
	w.hints.learn(r.answer)
	switch {
	case r.answer.Status == http.StatusUnauthorized && s.header == nil:
		w.halt = errUnauthorized
	case r.answer.Status == http.StatusTooManyRequests:
		w.halt, w.wait = errThrottled, retryAfter(r.answer.Header)
	}
	return r
}

// retryAfter reads Retry-After in seconds or as a date (RFC 9110, 10.2.3), 1 s if there
// is none.
func retryAfter(h http.Header) time.Duration {
	value := h.Get("Retry-After")
	if seconds, err := strconv.Atoi(value); err == nil && seconds >= 0 {
		return time.Duration(min(seconds, 1<<30)) * time.Second
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(date))
	}
	return time.Second
}
