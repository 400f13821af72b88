//go:build linux

package contender

import (
	"fmt"
	"os/exec"
	"path/filepath"
)

// Find builds the Go programs into dir, and looks for the others. The working directory is within berth's module.
func Find(dir string) (Programs, error) {
	p := Programs{
		Berth: filepath.Join(dir, "berth"), ReverseProxy: filepath.Join(dir, "reverseproxy"), Passthrough: filepath.Join(dir, "passthrough"),
		Nginx: installed("nginx"), HAProxy: installed("haproxy"), Redis: installed("redis-server"),
	}
	for path, pkg := range map[string]string{
		p.Berth: "berth", p.ReverseProxy: "berth/integration/bench/reverseproxy", p.Passthrough: "berth/integration/bench/passthrough",
	} {
		if said, err := exec.Command("go", "build", "-trimpath", "-o", path, pkg).CombinedOutput(); err != nil {
			return p, fmt.Errorf("contender: go build %s: %w\n%s", pkg, err, said)
		}
	}
	return p, nil
}

// installed finds a program; Debian keeps some where only root looks.
func installed(name string) string {
	for _, candidate := range []string{name, "/usr/sbin/" + name} {
		if path, err := exec.LookPath(candidate); err == nil {
			return path
		}
	}
	return ""
}
