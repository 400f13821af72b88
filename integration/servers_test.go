package integration

import (
	"net"
	"os/exec"
	"path/filepath"
	"testing"
)

// answers is how a tasks-server answers a request: with one JSON message, or with an
// event stream.
type answers string

const (
	jsonAnswers answers = "json"
	sseAnswers  answers = "sse"
)

// newFleet starts n instances, named a, b, c and so on.
func newFleet(t testing.TB, n int, command func(name, address string) *exec.Cmd) fleet {
	t.Helper()
	skipShort(t)
	var f fleet
	for i := range n {
		name := string(rune('a' + i))
		p, address := listen(t, name, func(address string) *exec.Cmd { return command(name, address) })
		f = append(f, &instance{process: p, base: "http://" + address})
	}
	return f
}

// tasksFleet is a modern server with the Tasks extension: parts/servers/tasks-server.js.
func tasksFleet(t testing.TB, n int, answers answers) fleet {
	t.Helper()
	return newFleet(t, n, func(name, address string) *exec.Cmd {
		return nodeCommand(t, filepath.Join(serversDir, "tasks-server.js"),
			"--port", portOf(t, address), "--name", name, "--answers", string(answers))
	})
}

// everythingFleet is the published legacy server with sessions and core tasks.
func everythingFleet(t testing.TB, n int) fleet {
	t.Helper()
	return newFleet(t, n, func(name, address string) *exec.Cmd { return everythingCommand(t, name, address) })
}

func everythingCommand(t testing.TB, name, address string) *exec.Cmd {
	t.Helper()
	script := filepath.Join(packagesDir, "server-everything/dist/index.js")
	requireFile(t, script)
	command := exec.Command(node(t),
		"--import", "./"+filepath.Join(serversDir, "loopback.js"),
		"--import", "./"+filepath.Join(serversDir, "counted.js"),
		script, "streamableHttp")
	command.Env = append(command.Environ(), "PORT="+portOf(t, address), "INSTANCE="+name)
	return command
}

// goFleet is go-sdk's own fixture for the suite's core scenarios: with sessions for
// the legacy era, without for the modern one.
func goFleet(t testing.TB, n int, sessions bool) fleet {
	t.Helper()
	program := built(t, "everything-server")
	stateless := "-stateless=true"
	if sessions {
		stateless = "-stateless=false"
	}
	return newFleet(t, n, func(_, address string) *exec.Cmd {
		return exec.Command(program, "-http", address, stateless)
	})
}

func portOf(t testing.TB, address string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return port
}
