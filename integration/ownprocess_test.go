package integration

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"berth/internal/mcptest"
)

// instanceVariable has this program be one server, which internal/mcptest is, in a process of its
// own: for tests that end instances and begin them anew.
const instanceVariable = "BERTH_TEST_INSTANCE" // NAME ADDRESS

// serveInstance returns at once in any other process.
func serveInstance() {
	name, address, is := strings.Cut(os.Getenv(instanceVariable), " ")
	if !is {
		return
	}
	err := http.ListenAndServe(address, &mcptest.Server{Name: name, TTL: time.Minute})
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func instanceCommand(name, address string) *exec.Cmd {
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), instanceVariable+"="+name+" "+address)
	return command
}

// startProcesses starts a fleet of servers of both eras, each in a process of its own.
func startProcesses(t testing.TB, names ...string) (f fleet) {
	t.Helper()
	skipShort(t)
	for _, name := range names {
		p, address := listen(t, name, func(address string) *exec.Cmd { return instanceCommand(name, address) })
		f = append(f, &instance{process: p, base: "http://" + address})
	}
	return f
}

// anew starts such an instance again, which was killed, at its address.
func (i *instance) anew(t testing.TB) *instance {
	t.Helper()
	address := strings.TrimPrefix(i.base, "http://")
	p := start(t, i.name, instanceCommand(i.name, address))
	if !p.awaitListening(t, address) {
		t.Fatalf("%s did not start again", i.name)
	}
	return &instance{process: p, base: i.base}
}
