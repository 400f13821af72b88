package demo

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/mcptest"
)

// TestMain is the server of the third part as well: berth runs this binary for it.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == ServerVerb {
		if err := (&mcptest.StdioServer{Name: "plain"}).Serve(os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// testServer is the command that runs the server of the third part.
func testServer(t *testing.T) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{self, ServerVerb}
}

// over makes a front that takes turns over the named upstreams; over one it
// loses nothing.
func over(names ...string) Front {
	return func(upstreams map[string]string, _ string) (http.Handler, func(), error) {
		transport := &http.Transport{}
		var urls []*url.URL
		for _, name := range names {
			u, err := url.Parse(upstreams[name])
			if err != nil {
				return nil, nil, err
			}
			urls = append(urls, u)
		}
		return NewRoundRobin(transport, urls...), transport.CloseIdleConnections, nil
	}
}

func TestOnceIsContentIfAllIsAsItShouldBe(t *testing.T) {
	var report bytes.Buffer
	if err := Run(t.Context(), &report, Options{Once: true, Front: overTCP(), Server: testServer(t)}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(report.String()) {
		if len(line) > 81 {
			t.Errorf("wider than 80 columns: %q", line)
		}
	}
	for _, want := range []string{
		`tool calls right +30 of 30 +\d+ of 30\n`, `polls lost +0 % +[1-9]\d* %\n`,
		`sessions lost +0 +[1-9]\d*\n`, `first answer +the result +a task\n`, `\n  working +completed\n`, `\n  queued, 3rd .* completed\n`,
		`\n  input_required  What is your name\?\n  complete        Hello, Ada!\n\nRuns of the tool: 1\. .*\n\n  working +completed\n$`,
	} {
		if !regexp.MustCompile(want).Match(report.Bytes()) {
			t.Errorf("the report lacks %v:\n%s", want, report.String())
		}
	}
	if !strings.Contains(report.String(), "    concurrency = 1\n") {
		t.Errorf("the report lacks the rule:\n%s", report.String())
	}
}

func TestOnceFailsIfBerthLost(t *testing.T) {
	var report bytes.Buffer
	err := Run(t.Context(), &report, Options{Once: true, Front: over("a", "b", "c"), Server: testServer(t)})
	if !errors.Is(err, ErrTaskLost) && !errors.Is(err, ErrSessionLost) {
		t.Errorf("got %v, want a loss", err)
	}
}

func TestOnceFailsIfARuleIsIgnored(t *testing.T) {
	err := Run(t.Context(), &bytes.Buffer{}, Options{Once: true, Front: over("a"), Server: testServer(t)})
	if !errors.Is(err, ErrWrongAnswer) {
		t.Errorf("got %v, want %v", err, ErrWrongAnswer)
	}
}

func TestFrontErrorEndsRun(t *testing.T) {
	broken := errors.New("broken")
	for name, breaks := range map[string]func(rules string) bool{
		"every front":      func(string) bool { return true },
		"those with rules": func(rules string) bool { return rules != "" },
		"those with pools": func(rules string) bool { return strings.Contains(rules, "[[pools]]") },
	} {
		t.Run(name, func(t *testing.T) {
			err := Run(t.Context(), &bytes.Buffer{}, Options{Front: func(upstreams map[string]string, rules string) (http.Handler, func(), error) {
				if breaks(rules) {
					return nil, nil, broken
				}
				return over("a")(upstreams, rules)
			}})
			if !errors.Is(err, broken) {
				t.Errorf("got %v, want %v", err, broken)
			}
		})
	}
}

// A transcript collects what Run prints and tells when a text has come.
type transcript struct {
	mu   sync.Mutex // guards text
	text string
	want string
	seen chan struct{}
}

func (tr *transcript) Write(p []byte) (int, error) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	before := strings.Contains(tr.text, tr.want)
	tr.text += string(p)
	if !before && strings.Contains(tr.text, tr.want) {
		close(tr.seen)
	}
	return len(p), nil
}

func (tr *transcript) String() string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.text
}

func TestPrintedCommandsWork(t *testing.T) {
	for _, tool := range []string{"sh", "curl", "sed", "tee"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("needs %s: %v", tool, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	out := &transcript{want: "and ask for it", seen: make(chan struct{})}
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, out, Options{Front: over("a"), Server: testServer(t)}) }()
	select {
	case <-out.seen:
	case err := <-ended:
		t.Fatalf("ended with %v before the commands were printed", err)
	case <-time.After(time.Minute):
		t.Fatal("printed no commands within a minute")
	}

	script := commandsIn(out.String())
	if n := strings.Count(script, "curl"); n != 2 {
		t.Fatalf("got %d commands, want 2:\n%s", n, script)
	}
	got, err := exec.CommandContext(ctx, "sh", "-c", script).Output()
	if err != nil || !strings.Contains(string(got), `"resultType":"complete"`) || !strings.Contains(string(got), `"status":"working"`) {
		t.Errorf("got %q, %v, want a working task from:\n%s", got, err, script)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Run: %v", err)
	}
}

// commandsIn cuts the commands out of the printed text: the paragraphs that
// have a curl in them.
func commandsIn(text string) string {
	paragraphs := strings.Split(text, "\n\n")
	return strings.Join(slices.DeleteFunc(paragraphs, func(p string) bool {
		return !strings.Contains(p, "curl")
	}), "\n")
}
