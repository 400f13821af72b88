//go:build e2e

package integration

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// hook is a receiver of webhooks. It believes what the published library of Standard Webhooks verifies.
type hook struct {
	name    string
	url     string
	keys    string // of its table, beside those that all have
	refuses int    // so many attempts of each message, in its own way
	refuse  http.HandlerFunc
	takes   time.Duration // to answer
	knows   string        // the secret; "": hookSecret

	mu       sync.Mutex // guards the fields below
	attempts map[string]int
	taken    map[string]hookNews // by webhook-id
	faults   []string
}

// hookNews is what a message says.
type hookNews struct {
	Type string
	Data struct{ TaskID, Pool, Tool, Status string }
}

// Messages are signed with both.
const (
	hookSecret     = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="
	nextHookSecret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDAAAAAAAAAAA="
)

func (h *hook) start(t testing.TB) *hook {
	t.Helper()
	h.attempts, h.taken = map[string]int{}, map[string]hookNews{}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	h.url = server.URL + "/" + h.name
	return h
}

func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	id, m, refused := h.note(r.Header, body, err)
	if refused {
		h.refuse(w, r)
		return
	}
	time.Sleep(h.takes)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.taken[id] = m
	w.WriteHeader(http.StatusNoContent)
}

// note verifies a message, and counts it.
func (h *hook) note(header http.Header, body []byte, err error) (id string, m hookNews, refused bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	verifier, _ := standard.NewWebhook(cmp.Or(h.knows, hookSecret))
	if err == nil {
		err = verifier.Verify(body, header)
	}
	if err == nil {
		err = json.Unmarshal(body, &m)
	}
	if err != nil || strings.Contains(string(body), "result") || strings.Contains(string(body), "arguments") {
		h.faults = append(h.faults, fmt.Sprint(err, " ", string(body)))
	}
	id = header.Get("Webhook-Id")
	h.attempts[id]++
	return id, m, h.attempts[id] <= h.refuses
}

// table is the receiver's, under a rule.
func (h *hook) table() string {
	return fmt.Sprintf(`
[[upgrade.webhook]]
name = %q
url = %q
secrets = [%q, %q]
allow_http = true
backoff = "100ms"
max_backoff = "1s"
timeout = "1s"
%s
`, h.name, h.url, hookSecret, nextHookSecret, h.keys)
}

// ends are how tasks have ended, by what the receiver was told: a task's id to its status.
func (h *hook) ends() map[string]string {
	h.mu.Lock()
	defer h.mu.Unlock()
	ends := map[string]string{}
	for _, m := range h.taken {
		ends[m.Data.TaskID] = m.Data.Status
	}
	return ends
}

// attempted counts the attempts, and the messages that they were of.
func (h *hook) attempted() (attempts, messages int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, n := range h.attempts {
		attempts += n
	}
	return attempts, len(h.attempts)
}

// sound fails the test if anything came that was not signed as it is to be, or says too much.
func (h *hook) sound(t testing.TB) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, fault := range h.faults {
		t.Errorf("%s was sent: %s", h.name, fault)
	}
}

// hang answers nothing until its client gives up.
func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// reset breaks the connection.
func reset(w http.ResponseWriter, _ *http.Request) {
	if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
	}
}

func status(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
	}
}
