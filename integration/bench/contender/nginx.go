//go:build linux

package contender

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// nginxConfig has one process, so that there is one to kill. Connections are kept on both sides for as long as the
// others keep theirs, and the log is written as berth writes its own: together, at most 200 ms late.
const nginxConfig = `
daemon off;
master_process off;
pid nginx.pid;
error_log stderr crit;
worker_rlimit_nofile 20000;
events { worker_connections 20000; }
http {
  access_log LOG;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  keepalive_requests 1000000000;
  upstream fleet {
    SERVERS
    keepalive 1024;
    keepalive_requests 1000000000;
  }
  server {
    listen ADDRESS backlog=4096;
    SECRETS
    location / {
      proxy_pass http://fleet;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_read_timeout 1h;
    }
  }
}
`

func (c Contender) nginx(s Site, address string) (*exec.Cmd, error) {
	var servers strings.Builder
	for _, u := range s.Upstreams {
		servers.WriteString("server " + u.Address + ";\n")
	}
	log := "access.log combined buffer=64k flush=200ms"
	if c.Quiet {
		log = "off"
	}
	secrets := ""
	if c.TLS {
		address += " ssl"
		secrets = fmt.Sprintf("ssl_certificate %s; ssl_certificate_key %[1]s; ssl_protocols TLSv1.3;", s.Certificate.File)
	}
	config := strings.NewReplacer("LOG", log, "SERVERS", servers.String(), "ADDRESS", address, "SECRETS", secrets).Replace(nginxConfig)
	if err := os.WriteFile(filepath.Join(s.Dir, "nginx.conf"), []byte(config), 0o600); err != nil {
		return nil, err
	}
	return exec.Command(s.Programs.Nginx, "-p", s.Dir, "-c", "nginx.conf", "-e", "stderr"), nil
}
