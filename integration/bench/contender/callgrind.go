//go:build linux

package contender

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// dumps is what Callgrind names its output files by, in the contender's directory; a number follows.
const dumps = "callgrind.out"

var errNoTotals = errors.New("contender: a dump of Callgrind tells no total")

// counted is command under Callgrind, which counts instructions and runs some fifty times slower. Signals by which Go
// preempts goroutines confuse it.
func counted(command *exec.Cmd, dir string) *exec.Cmd {
	args := append([]string{"--tool=callgrind", "--callgrind-out-file=" + filepath.Join(dir, dumps), command.Path}, command.Args[1:]...)
	under := exec.Command("valgrind", args...)
	if under.Env = command.Env; under.Env == nil {
		under.Env = os.Environ()
	}
	under.Env = append(under.Env, "GODEBUG=asyncpreemptoff=1")
	return under
}

// Instructions are how many the proxy, which is Counted, executes during f outside the kernel. The dump by function that
// Callgrind has made of that is the file.
func (r *Running) Instructions(f func() error) (n float64, file string, err error) {
	if _, err := r.dump(); err != nil { // what was before
		return 0, "", err
	}
	if err := f(); err != nil {
		return 0, "", err
	}
	if file, err = r.dump(); err != nil {
		return 0, "", err
	}
	dump, err := os.Open(file)
	if err != nil {
		return 0, "", err
	}
	defer dump.Close()
	n, err = total(dump)
	return n, file, err
}

// dump has Callgrind write what it has counted since the last dump, and begin anew.
func (r *Running) dump() (file string, err error) {
	r.dumped++
	file = filepath.Join(r.dir, dumps+"."+strconv.Itoa(r.dumped))
	said, err := exec.Command("callgrind_control", "--dump", strconv.Itoa(r.PID())).CombinedOutput()
	if err == nil {
		_, err = os.Stat(file)
	}
	if err != nil {
		return "", fmt.Errorf("contender: callgrind_control: %w\n%s", err, said)
	}
	return file, nil
}

// total reads the sum of a dump.
func total(dump io.Reader) (float64, error) {
	lines := bufio.NewScanner(dump)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if value, found := strings.CutPrefix(lines.Text(), "totals: "); found {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, errors.Join(errNoTotals, lines.Err())
}
