//go:build soak

package integration

import (
	"encoding/xml"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// h2spec is the conformance suite for servers of HTTP/2, as it is installed: from the network.
const h2spec = "github.com/summerwind/h2spec/cmd/h2spec@v2.2.1+incompatible"

// Behind TLS berth speaks HTTP/2 by net/http: it conforms in all that a plain server of net/http conforms in.
func TestSoakHTTP2ConformsAsNetHTTPDoes(t *testing.T) {
	suite := exec.Command("go", "install", h2spec)
	bin := t.TempDir()
	suite.Env = append(os.Environ(), "GOBIN="+bin, "GOFLAGS=-mod=mod")
	suite.Dir = bin // outside of berth's module
	if said, err := suite.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	plain := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, "hello")
	}))
	plain.Config.ErrorLog = log.New(io.Discard, "", 0)
	plain.EnableHTTP2 = true
	plain.StartTLS()
	t.Cleanup(plain.Close)

	s := newSite(t)
	config := s.path("berth.toml")
	if err := os.WriteFile(config, fmt.Appendf(nil, "[tls]\ncert = %q\nkey = %q\nhttp2 = true\n", s.path("cert.pem"), s.path("key.pem")), 0o600); err != nil {
		t.Fatal(err)
	}
	b := startBerth(t, goFleet(t, 1, false), "--config", config)

	program := filepath.Join(bin, "h2spec")
	want, wrong := conforms(t, program, plain.Listener.Addr().String())
	got, alsoWrong := conforms(t, program, strings.TrimPrefix(b.base, "http://"))
	if want != got || !slices.Equal(wrong, alsoWrong) || want < 100 {
		t.Errorf("berth fails in %q of %d cases, net/http in %q of %d", alsoWrong, got, wrong, want)
	}
	t.Logf("both fail in %d of %d cases: %q", len(wrong), want, wrong)
}

// conforms runs the suite against a server, and returns how many cases it has and those that fail.
func conforms(t *testing.T, program, address string) (cases int, failed []string) {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "report.xml")
	said, failure := exec.Command(program, "-t", "-k", "-h", host, "-p", port, "-P", "/mcp", "-j", file).CombinedOutput()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v, %v\n%s", err, failure, said)
	}
	var report struct {
		Suites []struct {
			Name  string `xml:"name,attr"`
			Cases []struct {
				Name    string    `xml:"classname,attr"`
				Failure *struct{} `xml:"failure"`
				Error   *struct{} `xml:"error"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	for _, suite := range report.Suites {
		cases += len(suite.Cases)
		for _, c := range suite.Cases {
			if c.Failure != nil || c.Error != nil {
				failed = append(failed, suite.Name+": "+c.Name)
			}
		}
	}
	return cases, failed
}
