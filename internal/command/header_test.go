package command

import (
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestHeadersOfFlagsAndFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "headers")
	if err := os.WriteFile(file, []byte("Authorization: Bearer x\r\n\nx-tenant:  a:b \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := readHeaders("--header", "X-Key: 1", "@"+file)
	want := http.Header{"X-Key": {"1"}, "Authorization": {"Bearer x"}, "X-Tenant": {"a:b"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

func TestUnfitHeadersAreRefusedWithoutTheirValue(t *testing.T) {
	const secret = "canary"
	for _, line := range []string{secret, "X Y: " + secret, ": " + secret, "X: " + secret + "\x00", "Host: " + secret,
		"mcp-session-id: " + secret, "Content-Length: " + secret, "@" + filepath.Join(t.TempDir(), "none")} {
		_, err := readHeaders("--header", line)
		if err == nil || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), "--header") {
			t.Errorf("%q: got %v, want an error that names the flag and not the value", line, err)
		}
	}
}
