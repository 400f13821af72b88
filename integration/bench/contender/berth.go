//go:build linux

package contender

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"berth/integration/bench/upstream"
)

// metricsSocket is where the Go programs serve their metrics.
const metricsSocket = "metrics.sock"

// upgradeRule makes tasks of two tools at once, and lets as many live as are measured.
const upgradeRule = `
[limits]
kept_tasks = 10000000
kept_tasks_per_caller = 5000000
kept = "16GiB"
kept_per_caller = "8GiB"
[[upgrade]]
tools = ["` + upstream.Report + `", "` + upstream.Hold + `"]
live_per_process = 1000000
`

// config is what of berth's configuration differs from its defaults.
func (c Contender) config(s Site) string {
	var b strings.Builder
	for _, part := range []struct {
		wanted bool
		text   string
	}{
		{c.NetHTTP, "http1 = \"net/http\"\n"},
		{c.Quiet, "[log]\naccess = false\n"},
		{c.TLS, fmt.Sprintf("[tls]\ncert = %q\nkey = %[1]q\n", s.Certificate.File)},
		{c.Profiled, "[admin]\npprof = true\n"},
		{c.Near > 0, fmt.Sprintf("[store]\nnear = %d\n", c.Near)},
		{c.Upgrade, upgradeRule},
	} {
		if part.wanted {
			b.WriteString(part.text)
		}
	}
	return b.String()
}

// berth runs with its defaults, and with metrics, as operators have them.
func (c Contender) berth(s Site, address, redis string) (*exec.Cmd, error) {
	config := filepath.Join(s.Dir, "berth.toml")
	if err := os.WriteFile(config, []byte(c.config(s)), 0o600); err != nil {
		return nil, err
	}
	args := []string{"serve", "--config", config, "--listen", address, "--admin", "unix:" + filepath.Join(s.Dir, metricsSocket)}
	for _, u := range s.Upstreams {
		args = append(args, "--upstream", u.Name+"=http://"+u.Address+"/mcp")
	}
	switch c.Store {
	case "file":
		args = append(args, "--store", "file:"+filepath.Join(s.Dir, "berth.db"))
	case "redis":
		args = append(args, "--store", "redis://"+redis+"/0")
	}
	command := exec.Command(s.Programs.Berth, args...)
	command.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", len(s.cores(c))))
	return command, nil
}

// plain has one of the bench's own programs run, which have no settings.
func (s Site) plain(program, scheme, address string) *exec.Cmd {
	args := []string{address, filepath.Join(s.Dir, metricsSocket)}
	for _, u := range s.Upstreams {
		args = append(args, scheme+u.Address)
	}
	return exec.Command(program, args...)
}
