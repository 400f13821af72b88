//go:build e2e

package integration

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// awaitResult asks b for the result of a task as a client of 2025-11-25 does, and returns
// where the whole answer comes, once its beginning is there.
func awaitResult(t testing.TB, b *watched, task heldTask) <-chan string {
	t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tasks/result","params":{"taskId":%q}}`, task.id)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.url(), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {"2025-11-25"},
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	whole := make(chan string, 1)
	go func() {
		defer response.Body.Close()
		got, err := io.ReadAll(response.Body)
		if err != nil {
			got = append(got, err.Error()...)
		}
		whole <- string(got)
	}()
	return whole
}

// A berth that drains gives results to those who wait at it for as long as it can, and then
// tells the others to ask elsewhere: no client is left waiting for what cannot come.
func TestTerminatedBerthSendsWaitsElsewhere(t *testing.T) {
	t.Parallel()
	h, leaving, other := startDraining(t, "3s")
	tasks := h.hold(t, other, 2)
	ending, lasting := awaitResult(t, leaving, tasks[0]), awaitResult(t, leaving, tasks[1])
	leaving.signal(t, syscall.SIGTERM)
	leaving.awaitUnready(t)
	h.tool.let(tasks[0].call)
	if got := <-ending; !strings.Contains(got, `"result":`) || !strings.Contains(got, tasks[0].id) {
		t.Errorf("got %q, want the result", got)
	}
	if got := <-lasting; !strings.Contains(got, `"reason":"draining","retryable":true`) {
		t.Errorf("got %q, want to be sent elsewhere", got)
	}
	leaving.awaitExit(t, 3*time.Second+lastWords)
	wantExitCode(t, leaving, 0)
	elsewhere := awaitResult(t, other, tasks[1])
	h.tool.letAll()
	if got := <-elsewhere; !strings.Contains(got, `"result":`) || !strings.Contains(got, tasks[1].id) {
		t.Errorf("elsewhere: got %q, want the result", got)
	}
	h.tool.wantNoneTwice(t)
}
