//go:build e2e

package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// nginxConfig is an ordinary balancer: one upstream block, one location. One process, so
// that killing it leaves none behind, and so that turns are taken by all connections
// together. It writes nothing outside of its own directory.
const nginxConfig = `
daemon off;
master_process off;
pid nginx.pid;
error_log stderr warn;
events {}
http {
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  upstream fleet {
    METHOD
    SERVERS
  }
  server {
    listen ADDRESS;
    location / {
      proxy_pass http://fleet;
      PROXYING
    }
  }
}
`

// startNginx starts nginx in front of a fleet and returns the MCP endpoint. Method and
// proxying are directives of the upstream and of the location; without, it is a round
// robin that buffers answers.
func startNginx(t testing.TB, f fleet, method, proxying string) string {
	t.Helper()
	skipShort(t)
	program := nginxProgram(t)
	var servers strings.Builder
	for _, i := range f {
		servers.WriteString("server " + strings.TrimPrefix(i.base, "http://") + ";\n")
	}
	dir := t.TempDir()
	_, address := listen(t, "nginx", func(address string) *exec.Cmd {
		config := strings.NewReplacer("METHOD", method, "PROXYING", proxying,
			"SERVERS", servers.String(), "ADDRESS", address).Replace(nginxConfig)
		if err := os.WriteFile(filepath.Join(dir, "nginx.conf"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		return exec.Command(program, "-p", dir, "-c", "nginx.conf", "-e", "stderr")
	})
	return "http://" + address + "/mcp"
}

// nginxProgram finds nginx, which Debian keeps where only root looks.
func nginxProgram(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"nginx", "/usr/sbin/nginx"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	missing(t, "nginx")
	return ""
}
