package command

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A real bash is offered verbs, those below, flags, and what a berth has.
func TestBashCompletes(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	berth := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/upstreams":
			_, _ = w.Write([]byte(`{"upstreams":[{"pool":"p","name":"a"},{"pool":"p","name":"b"}]}`))
		case "/v1/tasks":
			_, _ = w.Write([]byte(`{"tasks":[{"id":"t-1"},{"id":"u-2"}]}`))
		}
	}))
	defer berth.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "berth")); err != nil {
		t.Fatal(err)
	}
	const ask = `source <(berth completion bash)
while IFS='|' read -ra COMP_WORDS; do
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_WORDS[COMP_CWORD]=${COMP_WORDS[COMP_CWORD]% }
	COMPREPLY=(); _berth; echo "${COMPREPLY[*]}"
done`
	var lines, want strings.Builder
	for _, c := range [][2]string{
		{"berth|dra", "drain"}, {"berth|tasks|", "ls show cancel rerun watch"}, {"berth|tasks|show|t", "t-1"}, {"berth|drain|", "p/a p/b"},
		{"berth|drain|p/a|", ""}, {"berth|drain|--wa", "--wait"}, {"berth|completion|", "bash zsh fish"}, {"berth|log-level|d", "debug"},
	} {
		lines.WriteString(c[0] + " \n")
		want.WriteString(c[1] + "\n")
	}
	shell := exec.CommandContext(t.Context(), bash, "-c", ask)
	shell.Env = append(os.Environ(), "BERTH_IN_SHELL=1", "BERTH_ADMIN="+berth.URL, "PATH="+bin+":"+os.Getenv("PATH"))
	shell.Stdin = strings.NewReader(lines.String())
	var trouble bytes.Buffer
	shell.Stderr = &trouble
	got, err := shell.Output()
	if err != nil || string(got) != want.String() {
		t.Errorf("got %q, want %q; %v %s", got, want.String(), err, &trouble)
	}
}
