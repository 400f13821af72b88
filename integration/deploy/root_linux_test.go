package deploy

import (
	"bytes"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
)

// nobody is who the image runs as.
const nobody = 65532

// buildContext copies what "docker build" would send, as Dockerfile.dockerignore says.
func buildContext(t *testing.T) string {
	t.Helper()
	ignore, err := os.Open(dockerfile + ".dockerignore")
	if err != nil {
		t.Fatal(err)
	}
	defer ignore.Close()
	patterns, err := ignorefile.ReadAll(ignore)
	if err != nil {
		t.Fatal(err)
	}
	ignored, err := patternmatcher.New(patterns)
	if err != nil {
		t.Fatal(err)
	}
	from, to := filepath.Join("..", ".."), t.TempDir()
	err = filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil || name == "." {
			return err
		}
		left, err := ignored.MatchesOrParentMatches(name)
		switch {
		case err != nil:
			return err
		case left && entry.IsDir():
			return fs.SkipDir
		case left:
			return nil
		case entry.IsDir():
			return os.Mkdir(filepath.Join(to, name), 0o700)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), text, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// buildAsTheImage runs the commands of the Dockerfile that make the program, with out for /out.
func buildAsTheImage(t *testing.T, source, out string) {
	t.Helper()
	made := false
	for _, command := range parsed(t)[0].Commands {
		run, ok := command.(*instructions.RunCommand)
		if !ok {
			continue
		}
		line := strings.Join(run.CmdLine, " ")
		if strings.Contains(line, "go mod download") {
			continue
		}
		made = made || strings.Contains(line, "go build")
		shell := exec.CommandContext(t.Context(), "sh", "-ec", strings.ReplaceAll(line, "/out/", out+"/"))
		shell.Dir, shell.Env = source, append(os.Environ(), "TARGETOS=linux", "TARGETARCH=")
		if said, err := shell.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, said)
		}
	}
	if !made {
		t.Fatal("the Dockerfile builds nothing")
	}
}

// inRoot is berth in a root of its own, as the image's user.
func inRoot(t *testing.T, root string, args ...string) *exec.Cmd {
	t.Helper()
	command := exec.CommandContext(t.Context(), "/berth", args...)
	command.Dir = "/"
	command.Env = []string{"STATE_DIRECTORY=/var/lib/berth", "BERTH_ADMIN=127.0.0.1:" + freePort(t)}
	command.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: nobody, Gid: nobody}, Pdeathsig: syscall.SIGKILL}
	return command
}

func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// The program as the image has it needs nothing beside it: in a root with itself, the authorities and a configuration it serves
// as nobody, says that it is ready, keeps what it knows in its one directory, and goes when it is told to.
func TestProgramOfTheImageNeedsNothingBesideIt(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("another root takes root's rights")
	}
	root := filepath.Join(t.TempDir(), "root")
	out := filepath.Join(root, "out")
	for _, dir := range []string{out, filepath.Join(root, "etc/berth"), filepath.Join(root, "var/lib/berth")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for dir := root; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	buildAsTheImage(t, buildContext(t), out)
	if err := os.Rename(filepath.Join(out, "berth"), filepath.Join(root, "berth")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(filepath.Join(root, "var/lib/berth"), nobody, nobody); err != nil {
		t.Fatal(err)
	}
	admin := "127.0.0.1:" + freePort(t)
	config := fmt.Sprintf("listen = \"127.0.0.1:0\"\n[admin]\nlisten = %q\n[[pools]]\n[[pools.upstreams]]\nname = \"a\"\nurl = \"http://127.0.0.1:1/mcp\"\n", admin)
	if err := os.WriteFile(filepath.Join(root, "etc/berth/config.toml"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}

	var log bytes.Buffer
	serve := inRoot(t, root, "serve", "--config", "/etc/berth/config.toml")
	serve.Stderr = &log
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	ready := false
	for range 100 {
		said, err := inRoot(t, root, "ready", "--admin", admin).CombinedOutput()
		if ready = err == nil && string(said) == "ready\n"; ready {
			break
		}
		time.Sleep(50 * time.Millisecond) // between two looks of a health check
	}
	if err := serve.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := serve.Wait(); err != nil || !ready {
		t.Errorf("ready %t, then %v\n%s", ready, err, &log)
	}
	if kept, err := os.Stat(filepath.Join(root, "var/lib/berth/berth.db")); err != nil || kept.Sys().(*syscall.Stat_t).Uid != nobody {
		t.Errorf("what it knows: %v, %v", kept, err)
	}
}
