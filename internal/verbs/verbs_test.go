package verbs

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"berth/internal/admin"
	"berth/internal/api"

	"github.com/urfave/cli/v2"
)

// double is an admin listener that answers with values, by method and path, and notes what it was sent.
type double struct {
	answers map[string]any
	heard   []string
}

func (d *double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body bytes.Buffer
	_, _ = body.ReadFrom(r.Body)
	d.heard = append(d.heard, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+body.String()))
	value, known := d.answers[r.Method+" "+r.URL.Path]
	switch value := value.(type) {
	case string:
		_, _ = w.Write([]byte(value))
		return
	case *admin.Fault:
		w.WriteHeader(value.Status)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": value})
		return
	case error:
		w.WriteHeader(http.StatusConflict)
		_, _ = w.Write([]byte(`{"error":{"code":"ended","message":"` + value.Error() + `"}}`))
		return
	}
	if !known {
		http.NotFound(w, r)
		return
	}
	_ = json.NewEncoder(w).Encode(value)
}

// runs runs a verb against d.
func (d *double) runs(t *testing.T, stdin string, args ...string) (out string, code int) {
	t.Helper()
	berth := httptest.NewServer(d)
	defer berth.Close()
	t.Setenv("BERTH_ADMIN", berth.URL)
	var text bytes.Buffer
	app := &cli.App{Reader: strings.NewReader(stdin), Writer: &text, ErrWriter: &text, ExitErrHandler: func(*cli.Context, error) {}, Commands: Commands()}
	err := app.RunContext(t.Context(), append([]string{"berth"}, args...))
	if err == nil {
		return text.String(), 0
	}
	coded, ok := err.(cli.ExitCoder)
	if !ok {
		t.Fatalf("%v: error without a code: %v", args, err)
	}
	return text.String() + err.Error(), coded.ExitCode()
}

func TestVerbsAskAndTell(t *testing.T) {
	made := time.Now().Add(-95 * time.Minute)
	task := api.Task{ID: "t-1", Pool: "p", Tool: "sleep", State: "queued", Place: 2, Made: made, Message: "steers \x1b[2J"}
	d := &double{answers: map[string]any{
		"GET /v1/status": api.Status{
			Berth: api.Berth{Version: "9", Host: "h:1", State: "serving"}, Ready: true, Store: api.Store{Kind: "redis", Available: true},
			Pools:    []api.Pool{{Name: "p", Path: "/mcp", Upstreams: []api.Upstream{{MayStop: api.MayStop{Name: "a"}, State: "silent", Disagree: true}}}},
			Tasks:    api.Tally{ByState: map[string]int{"queued": 3}, Oldest: map[string]api.Age{"queued": {Made: made}}},
			Troubles: []api.Trouble{{Kind: "orphans", Count: 4, Recent: 1}},

			PausedQueues: []api.PausedQueue{{ID: "q1", Pool: "p", Rule: "sleep*", By: "a\x1bnn", Since: made}},
		},
		"GET /metrics":               "berth_requests_total{method=\"x\",outcome=\"ok\",pool=\"p\"} 7\n",
		"GET /v1/tasks":              api.Tasks{Tasks: []api.Task{task}, Page: api.Page{Next: "n", Total: 9}},
		"GET /v1/tasks/t-1":          api.TaskDetail{Task: api.Task{ID: "t-1", State: "completed"}, Timeline: []api.Moment{{At: made, What: "made"}}, May: []string{"cancel"}},
		"GET /v1/tasks/t-2":          api.TaskDetail{Task: api.Task{ID: "t-2", State: "failed"}},
		"GET /v1/tasks/t-3":          &admin.Fault{Status: 400, Code: "bad_request", Message: "x is no pool"},
		"POST /v1/tasks/t-1/cancel":  api.TaskDetail{Task: api.Task{ID: "t-1", State: "cancelled"}},
		"POST /v1/tasks/t-2/cancel":  errEnded{},
		"GET /v1/queues":             api.Queues{Queues: []api.Queue{{ID: "q", Rule: "sleep*", Waiting: 3, Places: 1, Paused: true, PausedBy: "h"}}},
		"POST /v1/queues/q/pause":    api.Queue{ID: "q", Paused: true},
		"GET /v1/sessions":           api.Sessions{Sessions: []api.Session{{ID: "s-1", Upstream: "a", Movable: true}}},
		"GET /v1/explain":            api.Explanation{Pool: "p", Why: "because", Answer: api.Answer{Action: "refuse", Status: 503, Code: "owner_unavailable"}},
		"POST /v1/explain":           api.Explanation{Pool: "p", Candidates: []api.Candidate{{Upstream: "a", Rank: -1, Why: "drains"}}, Answer: api.Answer{Action: "forward"}},
		"GET /v1/decisions":          api.Decisions{Decisions: []api.Decision{{Method: "tasks/get", Upstream: "a", Took: 0.001}}},
		"GET /v1/berths":             api.Berths{Berths: []api.Berth{{Name: "B1", State: "dead", Config: "0123456789"}}},
		"GET /v1/limits":             api.Limits{Limits: []api.Limit{{Key: "limits.in_flight", Most: "5000", Used: -1, Refused: 2}}},
		"GET /v1/config":             api.Config{Keys: []api.Key{{Key: "listen", Value: ":80", Origin: "file:1"}, {Key: "log.level", Value: "info", Origin: "default"}}},
		"PUT /v1/log-level":          api.LogLevel{Level: "debug", Configured: "info", Until: time.Now().Add(time.Hour)},
		"GET /v1/troubles/orphans":   api.Events{Events: []api.Event{{What: "holder_lost", ID: "t-9"}}},
		"GET /debug/pprof/goroutine": "a profile",
	}}
	file := filepath.Join(t.TempDir(), "p")
	for line, c := range map[string]struct {
		code  int
		told  string // parts, in this order
		heard string // last
	}{
		"status":                        {0, "berth 9 at h:1|store redis  available|silent (berths disagree)|3 queued (oldest 1h3|paused    queue q1 of sleep*, for 1h35m by a?nn: none of its calls is sent|4 orphans (1 in 5 min)", "GET /v1/status"},
		"top --once --every 200ms":      {0, "requests/s  p 0.0|berth 9 at h:1", "GET /metrics"},
		"tasks":                         {0, "ID |t-1  p     sleep  queued  queued, 2|1h3|steers ?[2J|1 shown, 9 in all: --cursor n", "GET /v1/tasks"},
		"tasks ls --state failed":       {0, "t-1", "GET /v1/tasks?state=failed"},
		"tasks show t-1":                {0, "t-1  completed|may         cancel|made", "GET /v1/tasks/t-1"},
		"tasks show":                    {2, "name one task", ""},
		"tasks moor":                    {2, `no "moor"`, ""},
		"tasks cancel --pool p t-1":     {0, "cancelled", `POST /v1/tasks/t-1/cancel {"pool":"p"}`},
		"tasks cancel t-2":              {1, "it has ended", ""},
		"tasks watch t-1":               {0, "completed", "GET /v1/tasks/t-1"},
		"tasks watch t-2":               {1, "failed", "GET /v1/tasks/t-2"},
		"queues":                        {0, "sleep*  3        -       0        1 each|by h", "GET /v1/queues"},
		"queues pause q":                {0, "q", "POST /v1/queues/q/pause {}"},
		"sessions --upstream a":         {0, "s-1|yes", "GET /v1/sessions?upstream=a"},
		"subscriptions":                 {4, "does not have this", ""},
		"explain x/y":                   {0, "answer  refuse with 503 owner_unavailable|because", "GET /v1/explain?id=x%2Fy"},
		"explain --caller=  x":          {0, "", "GET /v1/explain?caller=&id=x"},
		"explain -":                     {0, "answer  forward|never", `POST /v1/explain {"body":"{\"method\":\"ping\"}"}`},
		"decisions --outcome refused":   {0, "tasks/get|1ms", "GET /v1/decisions?limit=20&outcome=refused"},
		"berths":                        {0, "B1|dead|over|01234567", "GET /v1/berths"},
		"limits":                        {0, "limits.in_flight|5000  -", "GET /v1/limits"},
		"config --set":                  {0, `listen  ":80"  file:1`, "GET /v1/config"},
		"log-level --for 1m debug":      {0, "debug, for another 59m|; then info", `PUT /v1/log-level {"for":60,"level":"debug"}`},
		"troubles orphans":              {0, "holder_lost  t-9", "GET /v1/troubles/orphans"},
		"profile --type goroutine -o -": {0, "a profile", "GET /debug/pprof/goroutine"},
		"profile -o " + file:            {1, "pprof = true", ""},
		"profile --type x -o -":         {2, "no profile", ""},
		"profile":                       {2, "name a file with -o FILE", ""},
		"troubles x":                    {2, "there are orphans, holder_lost", ""},
		"config listen tls":             {2, "one PREFIX at most", ""},
		"log-level debug info":          {2, "one level at most", ""},
		"config nosuch":                 {2, `no key begins with "nosuch"`, ""},
		"tasks --limit 0":               {2, "--limit 0", ""},
		"sessions --limit -5":           {2, "--limit -5", ""},
		"decisions --limit 0":           {2, "--limit 0", ""},
		"status --watch -1s":            {2, "--watch -1s: it must be more than 0", ""},
		"status --watch 0s":             {2, "--watch 0s: it must be more than 0", ""},
		"status --watch 1s --for -1s":   {2, "--for -1s: it must be more than 0", ""},
		"top --once --every 0s":         {2, "--every 0s: it must be more than 0", ""},
		"tasks watch --timeout -1s t-1": {2, "--timeout -1s: it must be more than 0", ""},
		"drain --timeout -1s p/a":       {2, "--timeout -1s: it must be more than 0", ""},
		"drain --timeout 5s p/a":        {2, "--timeout is for --wait", ""},
		"ready --timeout -1s":           {2, "--timeout -1s: it must be more than 0", ""},
		"log-level --for -1m debug":     {2, "--for -1m0s: it must be more than 0", ""},
		"tasks show t-3":                {2, "is no pool", "GET /v1/tasks/t-3"},
	} {
		d.heard = nil
		out, code := d.runs(t, `{"method":"ping"}`, strings.Fields(line)...)
		if code != c.code {
			t.Errorf("%s: exit code %d, want %d", line, code, c.code)
		}
		rest := out
		for part := range strings.SplitSeq(c.told, "|") {
			_, after, found := strings.Cut(rest, part)
			if !found {
				t.Errorf("%s: told\n%s\nwant %q", line, out, part)
			}
			rest = after
		}
		if c.heard != "" && d.heard[len(d.heard)-1] != c.heard {
			t.Errorf("%s: asked for %q, want %q", line, d.heard, c.heard)
		}
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a profile that failed left a file")
	}
}

type errEnded struct{}

func (errEnded) Error() string { return "it has ended" }

// What programs read is the API's own answer, with what this berth's verbs do not know.
func TestJSONIsTheAPIsOwn(t *testing.T) {
	d := &double{answers: map[string]any{"GET /v1/queues": `{"queues":[{"id":"q","later":7}]}`}}
	out, code := d.runs(t, "", "queues", "--json")
	if code != 0 || strings.Join(strings.Fields(out), "") != `{"queues":[{"id":"q","later":7}]}` {
		t.Errorf("%d: %s", code, out)
	}
	d.answers["POST /v1/reload"] = &admin.Fault{Status: http.StatusUnprocessableEntity, Code: "faulty_file", Message: "no", Details: []map[string]any{{"line": 7}}}
	out, code = d.runs(t, "", "reload", "--json")
	if code != codeFailed || !strings.HasPrefix(strings.Join(strings.Fields(out), ""), `{"error":{"code":"faulty_file","message":"no","details":[{"line":7}]}}`) {
		t.Errorf("refused: %d: %s", code, out)
	}
}

// An order that berth hangs on is given up with the time to wait.
func TestDrainIsBoundedFromItsOrderOn(t *testing.T) {
	hang := make(chan struct{})
	berth := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	defer berth.Close()
	defer close(hang)
	app := &cli.App{Writer: new(bytes.Buffer), ExitErrHandler: func(*cli.Context, error) {}, Commands: Commands()}
	err := app.RunContext(t.Context(), []string{"berth", "drain", "--admin", berth.URL, "--wait", "--timeout", "10ms", "p/a"})
	if coded, ok := err.(cli.ExitCoder); !ok || coded.ExitCode() != codeDeadline {
		t.Errorf("got %v", err)
	}
}

// Who watches is told that nobody answers: at once where nobody has so far, and once where a berth is away that has answered.
func TestAWatchTellsThatNobodyAnswers(t *testing.T) {
	nobody := httptest.NewServer(http.NotFoundHandler())
	nobody.Close()
	var asked atomic.Int32
	leaves := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) > 1 {
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write([]byte(`{"berths":[]}`))
	}))
	defer leaves.Close()
	for line, want := range map[string]struct {
		at   string
		code int
	}{
		"status --watch 100ms":             {nobody.URL, codeUnreachable},
		"tasks watch t-1":                  {nobody.URL, codeUnreachable},
		"berths --watch 100ms --for 750ms": {leaves.URL, 0},
	} {
		t.Setenv("BERTH_ADMIN", want.at)
		var text bytes.Buffer
		app := &cli.App{Writer: &text, ErrWriter: &text, ExitErrHandler: func(*cli.Context, error) {}, Commands: Commands()}
		err := app.RunContext(t.Context(), append([]string{"berth"}, strings.Fields(line)...))
		coded, _ := err.(cli.ExitCoder)
		if err != nil {
			text.WriteString(err.Error())
		}
		if code := 0; coded != nil && coded.ExitCode() != want.code || coded == nil && want.code != code || strings.Count(text.String(), "no berth answers") != 1 {
			t.Errorf("%s: got %v, %s", line, err, text.String())
		}
	}
}

// The name of a pool may have slashes, as that of an upstream may: POOL/NAME means the one that there is.
func TestPoolsAndUpstreamsMayHaveSlashes(t *testing.T) {
	for arg, heard := range map[string]string{
		"team/x/a":   "POST /v1/upstreams/team%2Fx/a/undrain {}",
		"team/x/b/1": "POST /v1/upstreams/team/x%2Fb%2F1/undrain {}",
		"p/gone/1":   "POST /v1/upstreams/p/gone%2F1/undrain {}",
	} {
		d := &double{answers: map[string]any{
			"GET /v1/upstreams": api.Upstreams{Upstreams: []api.Upstream{
				{MayStop: api.MayStop{Pool: "team/x", Name: "a"}}, {MayStop: api.MayStop{Pool: "team/x", Name: "b/1"}}, {MayStop: api.MayStop{Pool: "team", Name: "x/b/1"}},
			}},
		}}
		d.runs(t, "", "undrain", arg)
		if got := d.heard[len(d.heard)-1]; got != heard {
			t.Errorf("%s: asked for %q, want %q", arg, got, heard)
		}
	}
}
