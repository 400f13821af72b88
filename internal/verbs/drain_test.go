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
	o := &operator{client: admin.NewClient(berth.URL, ""), out: io.Discard}
	err := o.awaitDrained(ctx, api.UpstreamsPath+"/p/a", time.Minute, drain.Status{Pool: "p", Name: "a"})
	coded, ok := err.(cli.ExitCoder)
	if !ok || coded.ExitCode() != codeFailed || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("error %v", err)
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
