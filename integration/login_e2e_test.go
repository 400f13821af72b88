//go:build e2e

package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"berth/internal/certs/certstest"
	"berth/internal/identity/issuertest"
)

// authority is an OAuth authorization server whose users agree to everything. Who logs
// in is its next subject.
type authority struct {
	*issuertest.Issuer

	base string // its issuer URL

	mu       sync.Mutex          // guards the fields below
	asked    map[string][]string // values of these parameters at the authorization endpoint
	subjects int
}

func startAuthority(t testing.TB) *authority {
	t.Helper()
	a := &authority{Issuer: issuertest.Make(t), asked: make(map[string][]string)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", a.describe)
	mux.HandleFunc("POST /register", a.register)
	mux.HandleFunc("GET /authorize", a.authorize)
	mux.HandleFunc("POST /token", a.token)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	a.base = server.URL
	return a
}

func (a *authority) describe(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, map[string]any{
		"issuer": a.base, "authorization_endpoint": a.base + "/authorize", "token_endpoint": a.base + "/token",
		"registration_endpoint": a.base + "/register", "response_types_supported": []string{"code"},
		"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"},
	})
}

func (a *authority) register(w http.ResponseWriter, r *http.Request) {
	var client map[string]any
	if err := json.NewDecoder(r.Body).Decode(&client); err != nil {
		http.Error(w, "no JSON", http.StatusBadRequest)
		return
	}
	client["client_id"] = "registered"
	reply(w, http.StatusCreated, client)
}

// authorize sends the user back at once. The resource that was asked for travels as
// the code.
func (a *authority) authorize(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	a.mu.Lock()
	for _, name := range []string{"resource", "scope"} {
		a.asked[name] = append(a.asked[name], query.Get(name))
	}
	a.mu.Unlock()
	back := url.Values{"code": {query.Get("resource")}, "state": {query.Get("state")}}
	http.Redirect(w, r, query.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (a *authority) token(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	a.subjects++
	subject := fmt.Sprint("subject-", a.subjects)
	a.mu.Unlock()
	claims := issuertest.Claims(subject, map[string]any{"iss": a.base, "aud": r.FormValue("code")})
	reply(w, http.StatusOK, map[string]any{"access_token": a.Sign("RS256", "rsa", nil, claims), "token_type": "Bearer", "expires_in": 3600})
}

func reply(w http.ResponseWriter, status int, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client may be gone
}

// A published client that knows nothing but the URL finds its way to a token: by the
// challenge, the document about the resource, and the authorization server that this
// names.
func TestPublishedClientLogsIn(t *testing.T) {
	t.Parallel()
	const clients = 5
	authority, fleet := startAuthority(t), startLocalFleet(t, nil)
	keys := filepath.Join(t.TempDir(), "keys.json")
	certstest.Write(t, keys, authority.KeySet())
	_, address := listen(t, "berth", func(address string) *exec.Cmd {
		config := configFile(t, fmt.Sprintf("[auth]\nprincipal = \"jwt\"\n[auth.jwt]\nissuer = %q\njwks = %q\nresource = \"http://%s\"\nscopes = [\"mcp:tools\"]\n[[pools]]\n",
			authority.base, keys, address))
		line := []string{"serve", "--listen", address, "--config", config}
		for _, i := range fleet.fleet {
			line = append(line, "--upstream", i.name+"="+i.url())
		}
		return exec.Command(berthBinary, line...)
	})
	endpoint := "http://" + address + "/mcp"
	drive(t, logIn, endpoint, clients).wantAllRight(t)
	for name, want := range map[string]string{"resource": endpoint, "scope": "mcp:tools"} {
		if got := authority.asked[name]; len(got) != clients || got[0] != want {
			t.Errorf("asked for %s %q, want %d times %q", name, got, clients, want)
		}
	}
}

// logIn is the published SDK v1 client with OAuth, for servers that have the tool greet.
func logIn(t testing.TB) *exec.Cmd { return nodeCommand(t, filepath.Join(clientsDir, "log-in.js")) }
