package integration

import (
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// reach is how berth reaches a legacy server.
type reach struct {
	name string

	// flags are those of the fixture.
	flags []string

	// scheme is put before the URL of an instance, path behind its host. Without a
	// path there are no URLs: berth starts the processes.
	scheme, path string
}

var (
	overResumable = reach{"streamable-http-with-event-ids", []string{"--transport", "http", "--event-log"}, "", "/mcp"}
	overPlain     = reach{"streamable-http", []string{"--transport", "http"}, "", "/mcp"}
	// overOwn is a server that asks on the stream of its session, where nothing says in which
	// call.
	overOwn   = reach{"asking-on-the-sessions-stream", []string{"--transport", "http", "--questions", "session"}, "", "/mcp"}
	overSSE   = reach{"http-sse", []string{"--transport", "sse"}, "sse+", "/sse"}
	overStdio = reach{"stdio", []string{"--transport", "stdio"}, "", ""}
)

var reaches = []reach{overResumable, overPlain, overOwn, overSSE, overStdio}

// legacySite is a fleet of the legacy fixture, parts/servers/legacy-fixture.js, and the pool
// that it is to berth.
type legacySite struct {
	fleet  // none over stdio
	runs   runLog
	pool   string // as it stands in a configuration
	keys   string // of the pool, which it does not say
	bridge string // keys of [pools.bridge]
}

// startLegacy starts n instances with flags of their own. Over stdio there will be n processes
// of each principal.
func (r reach) startLegacy(t testing.TB, n int, flags ...string) *legacySite {
	t.Helper()
	s := &legacySite{runs: newRunLog(t)}
	flags = append(append([]string{"--counts", s.runs.path}, r.flags...), flags...)
	if r.path == "" {
		s.pool = "[[pools]]\n" + stdioUpstream(t, n, flags)
		return s
	}
	s.fleet = newFleet(t, n, func(name, address string) *exec.Cmd {
		return legacyCommand(t, append(flags, "--port", portOf(t, address), "--name", name)...)
	})
	s.pool = r.pool(s.fleet)
	return s
}

// pool is a fleet as it stands in a configuration.
func (r reach) pool(f fleet) string {
	var pool strings.Builder
	pool.WriteString("[[pools]]\n")
	for _, i := range f {
		fmt.Fprintf(&pool, "[[pools.upstreams]]\nname = %q\nurl = %q\n", i.name, r.scheme+i.base+r.path)
	}
	return pool.String()
}

func legacyCommand(t testing.TB, flags ...string) *exec.Cmd {
	t.Helper()
	return nodeCommand(t, filepath.Join(serversDir, "legacy-fixture.js"), flags...)
}

func stdioUpstream(t testing.TB, n int, flags []string) string {
	t.Helper()
	return stdioProcesses(t, n, legacyCommand(t, append(flags, "--name", "b")...).Args...)
}

// stdioProcesses is an upstream of n processes for each principal.
func stdioProcesses(t testing.TB, n int, command ...string) string {
	t.Helper()
	skipShort(t)
	quoted := make([]string, 0, len(command))
	for _, arg := range command {
		if path, err := filepath.Abs(arg); err == nil && strings.HasPrefix(arg, "parts/") {
			arg = path
		}
		quoted = append(quoted, fmt.Sprintf("%q", arg))
	}
	return fmt.Sprintf("[[pools.upstreams]]\nname = \"b\"\ncommand = [%s]\nreplicas = %d\nisolation = \"principal\"\n",
		strings.Join(quoted, ", "), n)
}

// start starts berth before the site. config is TOML that stands before the pool's.
func (s *legacySite) start(t testing.TB, config string, args ...string) *berth {
	t.Helper()
	return startBerth(t, nil, append([]string{"--config", s.config(t, config)}, args...)...)
}

// startWatched is start, with the admin listener.
func (s *legacySite) startWatched(t testing.TB, config string, args ...string) *watched {
	t.Helper()
	return startWatched(t, nil, append([]string{"--config", s.config(t, config)}, args...)...)
}

func (s *legacySite) config(t testing.TB, config string) (path string) {
	t.Helper()
	pool := strings.Replace(s.pool, "[[pools]]\n", "[[pools]]\n"+s.keys+"[pools.bridge]\n"+s.bridge, 1)
	return configFile(t, config+"\n"+pool)
}

// forget has an instance forget its sessions, as a restart does.
func (i *instance) forget(t testing.TB) {
	t.Helper()
	response, err := http.Post(i.base+"/forget", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
}
