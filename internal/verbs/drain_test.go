package verbs

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/internal/admin"
	"berth/internal/api"
	"berth/internal/drain"

	"github.com/urfave/cli/v2"
)

// tellTwoTasks answers as a berth does of whose upstream a two tasks are left.
func tellTwoTasks(w http.ResponseWriter, _ *http.Request) {
	_, _ = w.Write([]byte(`{"pool":"p","name":"a","url":"http://a/mcp","draining":true,"by":"operator","left":{"tasks":2}}`))
}

// A wait that somebody ends has not lasted for its time.
func TestAnInterruptedWaitIsNoDeadline(t *testing.T) {
	berth := httptest.NewServer(http.HandlerFunc(tellTwoTasks))
	defer berth.Close()
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	o := &operator{client: admin.NewClient(berth.URL, ""), out: io.Discard, errors: io.Discard}
	err := o.awaitDrained(ctx, api.UpstreamsPath+"/p/a", time.Minute, drain.Status{Pool: "p", Name: "a"})
	coded, ok := err.(cli.ExitCoder)
	if !ok || coded.ExitCode() != codeFailed || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("error %v", err)
	}
}

// A wait goes on while the store does not answer.
func TestAWaitOutlivesAnOutageOfTheStore(t *testing.T) {
	asked := 0
	berth := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(`{"error":{"code":"store_unavailable","message":"the store does not answer (redis://r:6379/0)"}}`))
			return
		}
		_, _ = w.Write([]byte(`{"pool":"p","name":"a","draining":true,"drained":true}`))
	}))
	defer berth.Close()
	o := &operator{client: admin.NewClient(berth.URL, ""), out: io.Discard, errors: io.Discard}
	if err := o.awaitDrained(t.Context(), api.UpstreamsPath+"/p/a", time.Minute, drain.Status{Pool: "p", Name: "a"}); err != nil || asked != 2 {
		t.Errorf("asked %d times: %v", asked, err)
	}
}

// Who waits is told, once, that nobody answers meanwhile.
func TestAWaitTellsThatNobodyAnswers(t *testing.T) {
	for verb, answers := range map[string][]string{
		"drain --wait p/a": {`{"pool":"p","name":"a","draining":true}`, `{"pool":"p","name":"a","draining":true}`, "", "", `{"pool":"p","name":"a","draining":true,"drained":true}`},
		"tasks watch t-1":  {`{"id":"t-1","state":"working"}`, "", "", `{"id":"t-1","state":"completed"}`},
	} {
		left := make(chan string, len(answers)) // connections that break off have goroutines of their own
		for _, answer := range answers {
			left <- answer
		}
		berth := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case answer := <-left:
				if answer == "" {
					panic(http.ErrAbortHandler)
				}
				_, _ = io.WriteString(w, answer)
			default:
				t.Error("it is asked once more")
				panic(http.ErrAbortHandler)
			}
		}))
		var told bytes.Buffer
		app := &cli.App{Writer: io.Discard, ErrWriter: &told, ExitErrHandler: func(*cli.Context, error) {}, Commands: Commands()}
		t.Setenv("BERTH_ADMIN", berth.URL)
		err := app.RunContext(t.Context(), append([]string{"berth"}, strings.Fields(verb)...))
		berth.Close()
		if err != nil || strings.Count(told.String(), "\n") != 1 || len(left) > 0 {
			t.Errorf("%s: told %q, %v, %d left", verb, &told, err, len(left))
		}
	}
}

// Whoever does not wait at all is told what is left all the same.
func TestDrainWithNoTimeToWaitTellsWhatIsLeft(t *testing.T) {
	berth := httptest.NewServer(http.HandlerFunc(tellTwoTasks))
	defer berth.Close()
	var out bytes.Buffer
	app := &cli.App{Writer: &out, ExitErrHandler: func(*cli.Context, error) {}, Commands: []*cli.Command{drainCommand()}}
	err := app.Run([]string{"berth", "drain", "--admin", berth.URL, "--wait", "--timeout", "0s", "p/a"})
	coded, ok := err.(cli.ExitCoder)
	if !ok || coded.ExitCode() != codeDeadline || !strings.Contains(err.Error(), "p/a: the time to wait is over: left: 2 tasks") {
		t.Errorf("error %v", err)
	}
	if !strings.Contains(out.String(), "p/a  http://a/mcp  drains by the operator") {
		t.Errorf("told %q", out.String())
	}
}

// What cannot be a token is nobody's silence.
func TestATokenFileOfTwoLinesIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	app := &cli.App{ExitErrHandler: func(*cli.Context, error) {}, Commands: []*cli.Command{upstreamsCommand()}}
	err := app.Run([]string{"berth", "upstreams", "--admin-token-file", file})
	coded, ok := err.(cli.ExitCoder)
	if !ok || coded.ExitCode() != codeFailed || !strings.Contains(err.Error(), "holds more than a token") || strings.Contains(err.Error(), "two") {
		t.Errorf("error %v", err)
	}
}

// Who is on call asks for the state of an instance: one that does not answer takes no new work.
func TestUpstreamsTellWhatKeepsNewWorkAway(t *testing.T) {
	const (
		frozen = `{"pool":"p","name":"a","url":"http://a/mcp","left":{"tasks":2},"state":"silent","reason":"exchange: no answer in time","disagree":true}`
		leaves = `{"pool":"p","name":"b","url":"http://b/mcp","draining":true,"by":"operator","state":"ejected","reason":"HTTP 500","berths":1,"heeding":1}`
		fine   = `{"pool":"p","name":"c","url":"http://c/mcp","state":"ok"}`
	)
	berth := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := map[string]string{"/v1/upstreams": `{"upstreams":[` + frozen + `,` + leaves + `,` + fine + `]}`, "/v1/upstreams/p/a": frozen, "/v1/upstreams/p/b": leaves}[r.URL.Path]
		_, _ = w.Write([]byte(answer))
	}))
	defer berth.Close()
	tell := func(args ...string) string {
		var out bytes.Buffer
		app := &cli.App{Writer: &out, ExitErrHandler: func(*cli.Context, error) {}, Commands: []*cli.Command{upstreamsCommand()}}
		if err := app.Run(append([]string{"berth", "upstreams", "--admin", berth.URL}, args...)); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	for told, wants := range map[string][]string{
		tell():      {"p/a       silent (berths disagree)", "p/b       drains, ejected", "p/c       takes new work"},
		tell("p/a"): {"p/a  http://a/mcp  silent: exchange: no answer in time\nleft: 2 tasks\n"},
		tell("p/b"): {"p/b  http://b/mcp  drains by the operator, ejected: HTTP 500\nnothing is left\n"},
	} {
		for _, want := range wants {
			if !strings.Contains(told, want) {
				t.Errorf("told\n%s\nwithout %q", told, want)
			}
		}
	}
}

// While the store is away the berths are those that were heard of last, and it is said so.
func TestBerthsTellWhatCouldNotBeRead(t *testing.T) {
	berth := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"berths":[{"name":"B","state":"serving"}],"partial":"the store does not say"}`))
	}))
	defer berth.Close()
	var out bytes.Buffer
	app := &cli.App{Writer: &out, ExitErrHandler: func(*cli.Context, error) {}, Commands: []*cli.Command{berthsCommand()}}
	if err := app.Run([]string{"berth", "berths", "--admin", berth.URL}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "not all could be read: the store does not say\n") {
		t.Errorf("told %q", out.String())
	}
}

// Who asks for a profile where nobody listens is told that, as with any other verb.
func TestAProfileOfNobody(t *testing.T) {
	berth := httptest.NewServer(http.NotFoundHandler())
	berth.Close()
	app := &cli.App{Writer: io.Discard, ExitErrHandler: func(*cli.Context, error) {}, Commands: []*cli.Command{profileCommand()}}
	err := app.Run([]string{"berth", "profile", "--admin", berth.URL, "--type", "heap", "-o", "-"})
	coded, ok := err.(cli.ExitCoder)
	if !ok || coded.ExitCode() != codeUnreachable || strings.Contains(err.Error(), "pprof = true") {
		t.Errorf("error %v", err)
	}
}
