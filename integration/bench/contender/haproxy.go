//go:build linux

package contender

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// haproxyConfig has HAProxy pass on small events at once: without http-no-delay they wait for more.
const haproxyConfig = `
global
  nbthread 1
  log stdout format raw local0
defaults
  mode http
  LOG
  option http-no-delay
  timeout connect 5s
  timeout client 1h
  timeout server 1h
frontend clients
  bind ADDRESS backlog 4096 SECRETS
  default_backend fleet
backend fleet
  balance roundrobin
SERVERS`

func (c Contender) haproxy(s Site, address string) (*exec.Cmd, error) {
	var servers strings.Builder
	for _, u := range s.Upstreams {
		servers.WriteString("  server " + u.Name + " " + u.Address + "\n")
	}
	log := "log global\n  option httplog"
	if c.Quiet {
		log = ""
	}
	secrets := ""
	if c.TLS {
		secrets = "ssl crt " + s.Certificate.File + " ssl-min-ver TLSv1.3"
	}
	config := strings.NewReplacer("LOG", log, "SERVERS", servers.String(), "ADDRESS", address, "SECRETS", secrets).Replace(haproxyConfig)
	path := filepath.Join(s.Dir, "haproxy.cfg")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		return nil, err
	}
	return exec.Command(s.Programs.HAProxy, "-f", path), nil
}
