package integration

import (
	"bufio"
	"os"
	"os/exec"
	"testing"

	"berth/internal/realtest"
)

// Whoever reads berth's log may die: tasks and sessions of clients do not hang on it.
func TestBerthOutlivesTheReaderOfItsLog(t *testing.T) {
	t.Parallel()
	fleet := startLocalFleet(t, nil)
	log, sink, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	command := exec.Command(berthBinary, "serve", "--listen", address, "--upstream", "a="+fleet.fleet[0].url())
	command.Stderr = sink
	realtest.Tie(command)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait() // killed
	})
	_ = sink.Close() // berth has its own
	lines := bufio.NewScanner(log)
	for range 2 { // the pool, and what a restart forgets: it listens
		if !lines.Scan() {
			t.Fatal("berth did not start")
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}

	client := newModernClient(t)
	url := "http://" + address + "/mcp"
	task := client.create(t, url, 600)
	for range 3 { // each leaves a line that nobody reads
		client.get(t, url, task.TaskID)
	}
}
