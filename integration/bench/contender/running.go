//go:build linux

package contender

import (
	"crypto/tls"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"berth/integration/bench/upstream"
)

// readyWithin is how long a proxy may take until it listens.
const readyWithin = 20 * time.Second

// Running is a contender at work.
type Running struct {
	// Addresses are where clients connect; more than one where nothing stands in between.
	Addresses []string

	// Secure is how clients speak TLS to it; nil: they do not.
	Secure *tls.Config

	dir       string
	metrics   string // a socket; "": it tells no allocations
	dumped    int    // how often Callgrind has told what it counts
	processes []*process
}

// Start starts c at the site, and Redis beside it if c needs that.
func Start(c Contender, s Site) (*Running, error) {
	if c.Product == Direct {
		return direct(s.Upstreams), nil
	}
	dir, err := os.MkdirTemp(s.Dir, "proxy")
	if err != nil {
		return nil, err
	}
	s.Dir = dir
	r := &Running{dir: dir}
	if err := r.start(c, s); err != nil {
		r.Stop()
		return nil, err
	}
	return r, nil
}

func direct(upstreams []*upstream.Instance) *Running {
	r := new(Running)
	for _, u := range upstreams {
		r.Addresses = append(r.Addresses, u.Address)
	}
	return r
}

func (r *Running) start(c Contender, s Site) error {
	redis := ""
	if c.Store == "redis" {
		var err error
		if redis, err = r.startRedis(s); err != nil {
			return err
		}
	}
	address, err := freeAddress()
	if err != nil {
		return err
	}
	command, metrics, err := c.commandFor(s, address, redis)
	if err != nil {
		return err
	}
	if metrics != "" {
		r.metrics = filepath.Join(s.Dir, metrics)
	}
	r.Addresses = []string{address}
	if c.TLS {
		r.Secure = s.Certificate.Clients
	}
	if c.Counted {
		command = counted(command, r.dir, c.Caches)
	}
	if err := r.run(pinned(s.cores(c), command), "tcp", address); err != nil || r.metrics == "" {
		return err
	}
	return r.processes[len(r.processes)-1].awaitListening("unix", r.metrics)
}

// startRedis starts a Redis that keeps nothing on disk, on the cores that the load has.
func (r *Running) startRedis(s Site) (string, error) {
	address, err := freeAddress()
	if err != nil {
		return "", err
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", err
	}
	command := exec.Command(s.Programs.Redis, "--bind", host, "--port", port, "--save", "", "--appendonly", "no", "--dir", r.dir)
	return address, r.run(command, "tcp", address)
}

// run starts command, and waits until it listens.
func (r *Running) run(command *exec.Cmd, network, address string) error {
	p, err := startProcess(command, filepath.Join(r.dir, strconv.Itoa(len(r.processes))+".out"))
	if err != nil {
		return err
	}
	r.processes = append(r.processes, p)
	return p.awaitListening(network, address)
}

// PID is the proxy's process; 0 if there is none.
func (r *Running) PID() int {
	if len(r.processes) == 0 {
		return 0
	}
	return r.processes[len(r.processes)-1].command.Process.Pid
}

// Stop kills what was started, and removes what it wrote.
func (r *Running) Stop() {
	for _, p := range r.processes {
		p.kill()
	}
	if r.dir != "" {
		_ = os.RemoveAll(r.dir) // the benchmark's directory goes at its end
	}
}

// freeAddress is an address on loopback where nobody listens.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}
