//go:build linux

package contender

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"

	"berth/integration/bench/proc"
)

// process is one server that was started.
type process struct {
	command *exec.Cmd
	output  *os.File
	exited  chan struct{} // closed when it is gone
}

func startProcess(command *exec.Cmd, output string) (*process, error) {
	file, err := os.Create(output)
	if err != nil {
		return nil, err
	}
	command.Stdout, command.Stderr = file, file
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("contender: %w", err)
	}
	p := &process{command: command, output: file, exited: make(chan struct{})}
	go func() {
		_ = command.Wait() // that it ended is what counts
		close(p.exited)
	}()
	return p, nil
}

func (p *process) kill() {
	_ = p.command.Process.Kill() // it may be gone already
	<-p.exited
	_ = p.output.Close()
}

func (p *process) awaitListening(network, address string) error {
	ctx, cancel := context.WithTimeout(context.Background(), readyWithin)
	defer cancel()
	for {
		conn, err := net.DialTimeout(network, address, time.Second)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-p.exited:
			return p.failure("ended")
		case <-ctx.Done():
			return p.failure("does not listen")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (p *process) failure(what string) error {
	said, err := os.ReadFile(p.output.Name())
	return errors.Join(fmt.Errorf("contender: %s %s: %s", p.command.Path, what, said), err)
}

// pinned is command on some cores alone.
func pinned(cores []int, command *exec.Cmd) *exec.Cmd {
	pinned := exec.Command("taskset", append([]string{"-c", proc.CoreList(cores), command.Path}, command.Args[1:]...)...)
	pinned.Env = command.Env
	return pinned
}
