//go:build linux

package contender

import (
	"os"
	"os/exec"
	"path/filepath"

	"berth/integration/bench/upstream"
)

// metricsSocket is where the Go programs serve their metrics.
const metricsSocket = "metrics.sock"

// quietConfig is all that differs from berth's defaults where no access log is written.
const quietConfig = "[log]\naccess = false\n"

// berth runs with its defaults, and with metrics, as operators have them.
func (c Contender) berth(s Site, address, redis string) (*exec.Cmd, error) {
	args := []string{"serve", "--listen", address, "--admin", "unix:" + filepath.Join(s.Dir, metricsSocket)}
	for _, u := range s.Upstreams {
		args = append(args, "--upstream", u.Name+"=http://"+u.Address+"/mcp")
	}
	switch c.Store {
	case "file":
		args = append(args, "--store", "file:"+filepath.Join(s.Dir, "berth.db"))
	case "redis":
		args = append(args, "--store", "redis://"+redis+"/0")
	}
	if c.Upgrade {
		args = append(args, "--upgrade", upstream.Report)
	}
	if c.Quiet {
		config := filepath.Join(s.Dir, "berth.toml")
		if err := os.WriteFile(config, []byte(quietConfig), 0o600); err != nil {
			return nil, err
		}
		args = append(args, "--config", config)
	}
	return exec.Command(s.Programs.Berth, args...), nil
}

func (c Contender) reverseProxy(s Site, address string) *exec.Cmd {
	args := []string{address, filepath.Join(s.Dir, metricsSocket)}
	for _, u := range s.Upstreams {
		args = append(args, "http://"+u.Address)
	}
	return exec.Command(s.Programs.ReverseProxy, args...)
}
