package resident_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/relay"
	"berth/internal/seal"
	"berth/internal/storage"
	"berth/internal/wire"
	"berth/proxy/resident"
)

// shared is a store that says that there are other berths.
type shared struct{ *storage.Store }

func (shared) Shared() bool { return true }

// server answers with its name, and notes in whose name it was sent what.
type server struct {
	name    string
	callers []string
	closed  bool
}

func (s *server) Send(_ context.Context, request *exchange.Request, _ time.Duration) (*wire.Response, error) {
	s.callers = append(s.callers, request.Caller)
	return &wire.Response{Status: wire.StatusOK, Header: new(wire.Header), Body: io.NopCloser(strings.NewReader(s.name + string(request.Body))), ContentLength: -1}, nil
}

func (s *server) Close() { s.closed = true }

// berth is a process with servers of its own.
type berth struct {
	*resident.Sender

	http, sse, stdio *server
	end              func()
}

// world runs a test of two berths that share a store.
func world(t *testing.T, test func(t *testing.T, a, b *berth)) {
	synctest.Test(t, func(t *testing.T) {
		store, err := storage.Open("memory:", storage.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		keys, err := seal.NewKeyring([]byte(strings.Repeat("k", seal.MinSecret)))
		if err != nil {
			t.Fatal(err)
		}
		a, b := start(store, keys, "a"), start(store, keys, "b")
		synctest.Wait()
		defer b.end()
		defer a.end()
		test(t, a, b)
	})
}

func start(store *storage.Store, keys *seal.Keyring, name string) *berth {
	b := &berth{http: &server{name: name + ":http"}, sse: &server{name: name + ":sse"}, stdio: &server{name: name + ":stdio"}}
	mailbox := relay.New(shared{store}, name, keys, slog.New(slog.DiscardHandler))
	b.Sender = &resident.Sender{HTTP: b.http, SSE: b.sse, Stdio: map[string]exchange.Sender{"/u": b.stdio}, Pool: "p/q", Counted: []string{"X-Tenant-Key"}, Mailbox: mailbox}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	b.end = func() {
		stop()
		<-done
	}
	go func() {
		defer close(done)
		_ = mailbox.Run(ctx, func(ctx context.Context, passed *exchange.Request) (*wire.Response, error) {
			request, pool, ok := resident.Unaddressed(passed)
			if !ok || pool != "p/q" {
				return nil, errors.New("not of this pool")
			}
			return b.Send(ctx, request, 0)
		})
	}()
	return b
}

func request(target, session string) *exchange.Request {
	u, _ := url.Parse(target)
	r := &exchange.Request{Method: wire.MethodPost, URL: u, Header: new(wire.Header), Body: []byte("!")}
	if session != "" {
		r.Header.Set(mcp.HeaderSession, session)
	}
	return r
}

func (b *berth) say(t *testing.T, r *exchange.Request) (status int, body string) {
	t.Helper()
	response, err := b.Send(t.Context(), r, 0)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	if err != nil {
		t.Error(err)
	}
	return response.Status, string(read)
}

// A request goes to the server that its URL names, and what is about another berth's session to that
// berth's. That one alone sends it.
func TestARequestIsSentByTheBerthThatHasTheSession(t *testing.T) {
	world(t, func(t *testing.T, a, b *berth) {
		for _, tc := range []struct{ target, session, want string }{
			{"http://h/mcp", "", "a:http!"},
			{"http://h/mcp", "b~1", "a:http!"}, // such an upstream's sessions are its own affair
			{"stdio:///u", "", "a:stdio!"},
			{"stdio:///u", "a~1", "a:stdio!"},
			{"stdio:///u", "b~1", "b:stdio!"},
			{"stdio:///u", "b", "a:stdio!"}, // of no berth: the server says that it knows none
			{"sse+http://h/x?y=1", "", "a:sse!"},
			{"sse+https://h/x", "b~1~2", "b:sse!"},
		} {
			if status, got := a.say(t, request(tc.target, tc.session)); status != 200 || got != tc.want {
				t.Errorf("%s in %q: got %d %s, want %s", tc.target, tc.session, status, got, tc.want)
			}
		}
		if _, got := a.say(t, request("stdio:///v", "")); !strings.Contains(got, "no such server") {
			t.Errorf("got %s", got)
		}
		a.Close()
		if !a.http.closed || !a.sse.closed || !a.stdio.closed {
			t.Error("not all are closed")
		}
	})
}

// A berth that is gone has taken its sessions along: its client begins anew.
func TestABerthThatIsGoneIsASessionThatNobodyKnows(t *testing.T) {
	world(t, func(t *testing.T, a, b *berth) {
		b.end()
		for _, session := range []string{"b~1", "never~1"} {
			status, got := a.say(t, request("stdio:///u", session))
			if status != wire.StatusNotFound || !strings.Contains(got, `"error"`) {
				t.Errorf("%s: got %d %s", session, status, got)
			}
		}
		if len(a.stdio.callers) != 0 {
			t.Error("another berth has sent it")
		}
	})
}

// What is said of a session that has gone, with its berth or with its server there, is not its upstream's word.
func TestASessionThatIsGoneSaysNothingOfItsUpstream(t *testing.T) {
	world(t, func(t *testing.T, a, b *berth) {
		b.SSE, b.Stdio = nil, nil
		for _, by := range []*berth{a, b} {
			for _, r := range []*exchange.Request{request("stdio:///u", "b~1"), request("sse+http://h/x", "b~1"), request("stdio:///u", "never~1")} {
				response, err := by.Send(t.Context(), r, 0)
				if err != nil {
					t.Fatalf("%s: %v", r.URL, err)
				}
				_ = response.Body.Close()
				if response.Status != wire.StatusNotFound || !response.Unasked {
					t.Errorf("%s in %s: got %d, unasked %v", r.URL, r.Header.Get(mcp.HeaderSession), response.Status, response.Unasked)
				}
			}
		}
	})
}

// A process is its caller's: one principal, or one set of credentials.
func TestCallersAreToldApart(t *testing.T) {
	with := func(caller string, header ...string) *exchange.Request {
		r := request("stdio:///u", "")
		r.Caller = caller
		for i := 0; i < len(header); i += 2 {
			r.Header.Add(header[i], header[i+1])
		}
		return r
	}
	replaced := func(by, what string) *exchange.Request {
		r := with("", "Authorization", by)
		r.Unsent = exchange.Unsent{Authorization: true, Digest: what}
		return r
	}
	for name, tc := range map[string]struct {
		a, b *exchange.Request
		same bool
	}{
		"one principal":        {with("p", "Authorization", "1"), with("p", "Authorization", "2"), true},
		"two principals":       {with("p"), with("q"), false},
		"principal and nobody": {with("p"), with(""), false},
		"one token":            {with("", "Authorization", "1", "User-Agent", "x"), with("", "Authorization", "1"), true},
		"two tokens":           {with("", "Authorization", "1"), with("", "Authorization", "2"), false},
		"a cookie":             {with("", "Cookie", "1"), with(""), false},
		"a key":                {with("", "X-Api-Key", "1"), with("", "Api-Key", "1"), false},
		"another key":          {with("", "Api-Key", "1"), with("", "Api-Key", "2"), false},
		"a key of X's":         {with("", "X-Api-Key", "1"), with("", "X-Api-Key", "2"), false},
		"a counted key":        {with("", "X-Tenant-Key", "1"), with("", "X-Tenant-Key", "2"), false},
		"a word of the proxy":  {with("", "X-Forwarded-User", "1"), with("", "X-Forwarded-User", "2"), false},
		"a balancer's cookie":  {with("", "Cookie", "AWSALB=1; id=1"), with("", "Cookie", "id=1; AWSALB=2"), true},
		"a trace":              {with("", "X-Datadog-Trace-Id", "1"), with("", "X-Datadog-Trace-Id", "2"), true},
		"one token unsent":     {replaced("1", "a"), replaced("2", "a"), true},
		"two tokens unsent":    {replaced("1", "a"), replaced("1", "b"), false},
		"two headers":          {with("", "Cookie", "1", "Cookie", "2"), with("", "Cookie", "12"), false},
	} {
		world(t, func(t *testing.T, a, _ *berth) {
			before := tc.a.Caller
			a.say(t, tc.a)
			a.say(t, tc.b)
			if got := a.stdio.callers; (got[0] == got[1]) != tc.same || got[0] == "" {
				t.Errorf("%s: in the names of %q", name, got)
			}
			if tc.a.Caller != before {
				t.Errorf("%s: the request was changed", name)
			}
		})
	}
}

// In a session a principal is looked at, and no credentials: they may be renewed.
func TestASessionOutlivesItsCallersCredentials(t *testing.T) {
	world(t, func(t *testing.T, a, _ *berth) {
		r := request("stdio:///u", "a~1")
		r.Header.Set("Authorization", "Bearer new")
		a.say(t, r)
		r = request("stdio:///u", "a~1")
		r.Caller = "p"
		a.say(t, r)
		if got := a.stdio.callers; got[0] != "" || got[1] == "" {
			t.Errorf("in the names of %q", got)
		}
	})
}

// What was passed on is what was sent.
func TestAddressedIsUndone(t *testing.T) {
	r := request("sse+https://h:1/x?a=b&c=%2F", "s")
	passed := resident.Addressed(r, "p/q r")
	got, pool, ok := resident.Unaddressed(passed)
	if !ok || pool != "p/q r" || got.URL.String() != r.URL.String() || got.Header.Get(mcp.HeaderSession) != "s" || string(got.Body) != "!" {
		t.Errorf("got %+v of %q, %v", got, pool, ok)
	}
	if r.URL.Scheme != "sse+https" {
		t.Errorf("the request became %v", r.URL)
	}
	for _, other := range []string{"http://h/p?for=http://x", "berth:///?for=http://x", "berth:///p?for=%3A"} {
		if _, _, ok := resident.Unaddressed(request(other, "")); ok {
			t.Errorf("%s is one that was passed on", other)
		}
	}
}
