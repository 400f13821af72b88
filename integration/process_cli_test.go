package integration

import (
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"
)

const somewhere = "a=http://127.0.0.1:7101/mcp"

// Several pools, the first without upstreams of its own: nothing but the command line
// could say which of them --upstream means, and it does not.
const severalPools = `
[[pools]]
name = "first"
path = "/first"

[[pools]]
name = "second"
path = "/second"
[[pools.upstreams]]
url = "http://127.0.0.1:7102/mcp"
`

// Exit codes.
const (
	failed  = 1
	misused = 2 // the command line itself means nothing
)

// What berth cannot start with it says in words, and ends with 1, or with 2 where the command
// line itself means nothing.
func TestUnfitCommandLinesAreRefusedInWords(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	free := freeAddress(t)
	pools := configFile(t, severalPools)
	refused := []struct {
		name string
		args []string
		want []string // of the message
		code int
	}{
		{"unknown verb", []string{"moor"}, []string{`no verb "moor"`, "berth --help"}, misused},
		{"unknown flag", []string{"serve", "--upstreams", somewhere}, []string{"upstreams", "berth serve --help"}, misused},
		{"unknown flag before the verb", []string{"--listen", free, "serve"}, []string{"listen", "berth --help"}, misused},
		{"argument", []string{"serve", "--upstream", somewhere, "config.toml"}, []string{`unexpected argument "config.toml"`}, misused},
		{"no upstream", []string{"serve"}, []string{"--upstream [NAME=]URL", "--config FILE"}, misused},
		{"no upstream but others", []string{"serve", "--listen", free}, []string{"--upstream [NAME=]URL", "--config FILE"}, misused},
		{"upstream of one of several pools", []string{"serve", "--config", pools, "--upstream", somewhere}, []string{"--upstream", "2 pools"}, misused},
		{"same name twice", []string{"serve", "--upstream", somewhere, "--upstream", "a=http://127.0.0.1:7102/mcp"}, []string{"pools[0].upstreams[1].name"}, failed},
		{"no such file", []string{"serve", "--config", "nowhere.toml"}, []string{"nowhere.toml"}, failed},
		{"no such file to check", []string{"check", "nowhere.toml"}, []string{"nowhere.toml"}, failed},
		{"demo with an argument", []string{"demo", "now"}, []string{`unexpected argument "now"`}, misused},
		{"version with an argument", []string{"version", "now"}, []string{`unexpected argument "now"`}, misused},
		{"flag without its value", []string{"serve", "--listen"}, []string{"listen"}, misused},
		{"two files to check", []string{"check", "a.toml", "b.toml"}, []string{"one configuration file"}, misused},
		{"nothing to check", []string{"check"}, []string{"berth check", "configuration file"}, misused},
		{"port in use", []string{"serve", "--listen", taken.Addr().String(), "--upstream", somewhere}, []string{taken.Addr().String(), "address already in use"}, failed},
		{"admin port in use", []string{"serve", "--listen", free, "--admin", taken.Addr().String(), "--upstream", somewhere}, []string{"admin", taken.Addr().String(), "address already in use"}, failed},
		{"admin off loopback without token", []string{"serve", "--listen", free, "--admin", "0.0.0.0:0", "--upstream", somewhere}, []string{"admin.listen", "admin.token"}, failed},
		{"admin everywhere without token", []string{"serve", "--listen", free, "--admin", ":0", "--upstream", somewhere}, []string{"admin.listen"}, failed},
		{"unknown store", []string{"serve", "--store", "etcd://127.0.0.1", "--upstream", somewhere}, []string{"store.url", "memory:", "redis:"}, failed},
	}
	for _, r := range refused {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			got := runBerth(t, r.args...)
			if got.code != r.code {
				t.Errorf("exit code: got %d, want %d", got.code, r.code)
			}
			for _, want := range r.want {
				if !strings.Contains(got.stderr, want) {
					t.Errorf("got %q, want %q in it", got.stderr, want)
				}
			}
			if strings.Contains(got.stderr, "goroutine ") {
				t.Errorf("got a stack: %s", got.stderr)
			}
		})
	}
}

// A password in the store's URL is not repeated, however wrong the rest is.
func TestRefusalsDoNotRepeatAPassword(t *testing.T) {
	t.Parallel()
	const secret = "canary-in-the-url"
	for _, url := range []string{
		"redis://:" + secret + "@127.0.0.1:notaport/0",
		"redis://:" + secret + "@/0",
		"redis://:" + secret + "@127.0.0.1:6379/zero",
		"rdis://:" + secret + "@127.0.0.1:6379/0",
		"redis://:" + secret + "%zz@127.0.0.1:6379/0",
	} {
		got := runBerth(t, "serve", "--listen", freeAddress(t), "--upstream", somewhere, "--store", url)
		if got.code != 1 || strings.Contains(got.stdout+got.stderr, secret) {
			t.Errorf("got exit code %d and %q, want 1 and no secret", got.code, got.stdout+got.stderr)
		}
	}
}

func TestCheckPrintsEveryFaultWithKeyAndLine(t *testing.T) {
	t.Parallel()
	path := configFile(t, `listen = "nowhere"
drain = "soon"
colour = "blue"

[[pools]]
path = "mcp"
picker = "best"
[[pools.upstreams]]
url = "127.0.0.1:7101"
`)
	got := runBerth(t, "check", path)
	if got.code != 1 {
		t.Errorf("exit code: got %d, want 1", got.code)
	}
	for _, want := range []string{":1: listen: ", ":2: drain: ", ":3: colour: ", ":6: pools[0].path: ", ":7: pools[0].picker: ", ":9: pools[0].upstreams[0].url: "} {
		if !strings.Contains(got.stderr, path+want) {
			t.Errorf("got\n%swant a line that begins with %q", got.stderr, path+want)
		}
	}
}

func TestCheckPassesTheExample(t *testing.T) {
	t.Parallel()
	got := runBerth(t, "check", "../config.example.toml")
	if got.code != 0 || !strings.Contains(got.stdout, "ok, 1 pools, 2 upstreams") {
		t.Errorf("got %+v, want ok", got)
	}
}

func TestVersionIsAFlagAsWell(t *testing.T) {
	t.Parallel()
	verb, flag := runBerth(t, "version"), runBerth(t, "--version")
	if flag.code != 0 || flag.stdout != verb.stdout || !strings.HasPrefix(flag.stdout, "berth ") {
		t.Errorf("got %d %q, want 0 and what the verb prints, %q", flag.code, flag.stdout, verb.stdout)
	}
}

// TestCheckTellsWhichPagesAreRefusedAndWhichLetIn: off loopback, where nobody listed them.
func TestCheckTellsWhichPagesAreRefusedAndWhichLetIn(t *testing.T) {
	t.Parallel()
	const pool = "[[pools]]\nupstreams = [{ url = \"http://127.0.0.1:7101/mcp\" }]\n"
	for name, c := range map[string]struct {
		config string
		want   string
	}{
		"off loopback":            {"listen = \"0.0.0.0:8080\"\n" + pool, "origins hosts"},
		"off loopback, no host":   {"listen = \":8080\"\n" + pool, "origins hosts"},
		"off loopback, origins":   {"listen = \"0.0.0.0:8080\"\n" + pool + "origins = [\"*\"]\n", "hosts"},
		"off loopback, hosts":     {"listen = \"0.0.0.0:8080\"\n" + pool + "hosts = [\"mcp.example\"]\n", "origins"},
		"off loopback, with both": {"listen = \"0.0.0.0:8080\"\n" + pool + "origins = [\"*\"]\nhosts = [\"mcp.example\"]\n", ""},
		"on loopback":             {pool, ""},
	} {
		got := runBerth(t, "check", configFile(t, c.config))
		var warned []string
		for _, key := range []string{"origins", "hosts"} {
			if strings.Contains(got.stdout, "pools[0]."+key+": warning: ") {
				warned = append(warned, key)
			}
		}
		if got.code != 0 || strings.Join(warned, " ") != c.want {
			t.Errorf("%s: got %+v, want warnings of %q", name, got, c.want)
		}
	}
}

func TestVersionAsJSON(t *testing.T) {
	t.Parallel()
	got := runBerth(t, "version", "--json")
	var version struct{ Version, Go, Platform string }
	if err := json.Unmarshal([]byte(got.stdout), &version); err != nil {
		t.Fatalf("%q: %v", got.stdout, err)
	}
	if got.code != 0 || version.Version == "" || !strings.HasPrefix(version.Go, "go1.") || !strings.Contains(version.Platform, "/") {
		t.Errorf("got %+v and exit code %d, want all known", version, got.code)
	}
	if got.stderr != "" {
		t.Errorf("stderr: got %q, want none", got.stderr)
	}
}

// The demonstration is its own judge: its code is 0 if berth lost nothing and kept its rule.
func TestDemoOnceEndsWellByItself(t *testing.T) {
	t.Parallel()
	got := runBerth(t, "demo", "--once")
	if got.code != 0 || got.stdout == "" {
		t.Errorf("got %+v, want a report and exit code 0", got)
	}
}

func TestFlagsWinOverTheFile(t *testing.T) {
	t.Parallel()
	fleet := startLocalFleet(t, nil)
	unused := freeAddress(t)
	file := configFile(t, `listen = "`+unused+`"
[store]
url = "redis://127.0.0.1:1/0"
[[pools]]
[[pools.upstreams]]
name = "file"
url = "http://127.0.0.1:1/mcp"
`)
	b := startWatched(t, fleet.fleet, "--config", file, "--store", "memory:")
	client := newModernClient(t)
	client.get(t, b.url(), client.create(t, b.url(), 600).TaskID)
	if connection, err := net.Dial("tcp", unused); err == nil {
		_ = connection.Close()
		t.Error("berth listens where the file says, want where the flag says")
	}
	if text := b.settled(); strings.Contains(text, `"upstream":"file"`) || !strings.Contains(text, `"store":"memory:"`) {
		t.Errorf("got the log\n%swant the flags' upstreams and store", text)
	}
}

// With defaults nothing but the clients' port is opened, so a second berth needs
// another one of these and nothing else.
func TestTwoBerthsStartSideBySide(t *testing.T) {
	t.Parallel()
	fleet := startLocalFleet(t, nil)
	client := newModernClient(t)
	for range 2 {
		b := startBerth(t, fleet.fleet)
		client.get(t, b.url(), client.create(t, b.url(), 600).TaskID)
	}
}

// Off or on loopback: where a token is set, everything but liveness asks for it.
func TestAdminAsksForItsToken(t *testing.T) {
	t.Parallel()
	const token = "canary-admin-token"
	fleet := startLocalFleet(t, nil)
	b := startWatched(t, fleet.fleet, "--config", configFile(t, "[admin]\ntoken = \""+token+"\"\n"))
	for path, want := range map[string]int{"/livez": http.StatusOK, "/readyz": http.StatusUnauthorized, "/metrics": http.StatusUnauthorized, "/debug/pprof/": http.StatusUnauthorized} {
		if got, text := fetch(t, b.admin+path); got != want {
			t.Errorf("%s without token: got %d %q, want %d", path, got, text, want)
		}
	}
	for given, want := range map[string]int{"Bearer " + token: http.StatusOK, "Bearer wrong": http.StatusUnauthorized, "Basic " + token: http.StatusUnauthorized} {
		if got := fetchAuthorized(t, b.admin+"/metrics", given); got != want {
			t.Errorf("/metrics with %q: got %d, want %d", given, got, want)
		}
	}
	if strings.Contains(b.output.String(), token) {
		t.Error("the token is in the log")
	}
}

func fetchAuthorized(t testing.TB, url, authorization string) (status int) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", authorization)
	response, err := adminClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode
}

// Probes and metrics are not for clients: their paths do not exist where clients are.
func TestAdminPathsAreNotOnTheClientsPort(t *testing.T) {
	t.Parallel()
	b := startWatched(t, startLocalFleet(t, nil).fleet)
	for _, path := range []string{"/livez", "/readyz", "/metrics", "/debug/pprof/", "/"} {
		if got, text := fetch(t, b.base+path); got != http.StatusNotFound {
			t.Errorf("%s: got %d %q, want 404", path, got, text)
		}
	}
}
