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
	"slices"
	"strconv"
	"strings"
)

// dumps is what Callgrind names its output files by, in the contender's directory; a number follows.
const dumps = "callgrind.out"

var errNoTotals = errors.New("contender: a dump of Callgrind tells no total")

// simulated are caches of lines of 64 bytes, as small processors have them for each core.
var simulated = []string{"--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=524288,8,64"}

// counted is command under Callgrind, which counts instructions and runs some fifty times slower. Signals by which Go
// preempts goroutines confuse it.
func counted(command *exec.Cmd, dir string, caches bool) *exec.Cmd {
	args := []string{"--tool=callgrind", "--callgrind-out-file=" + filepath.Join(dir, dumps)}
	if caches {
		args = append(args, simulated...)
	}
	under := exec.Command("valgrind", slices.Concat(args, []string{command.Path}, command.Args[1:])...)
	if under.Env = command.Env; under.Env == nil {
		under.Env = os.Environ()
	}
	under.Env = append(under.Env, "GODEBUG=asyncpreemptoff=1")
	return under
}

// Counts are sums of what Callgrind has counted outside the kernel.
type Counts struct {
	Instructions float64
	Code, Data   float64 // cache lines that the first cache did not have
	Far          float64 // of these those that the second one did not have either
}

// Count is what the proxy, which is Counted, does during f. The dump by function that Callgrind has made of that is the file.
func (r *Running) Count(f func() error) (n Counts, file string, err error) {
	if _, err := r.dump(); err != nil { // what was before
		return Counts{}, "", err
	}
	if err := f(); err != nil {
		return Counts{}, "", err
	}
	if file, err = r.dump(); err != nil {
		return Counts{}, "", err
	}
	dump, err := os.Open(file)
	if err != nil {
		return Counts{}, "", err
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

// total reads the sums of a dump.
func total(dump io.Reader) (n Counts, err error) {
	lines := bufio.NewScanner(dump)
	lines.Buffer(nil, 1<<20)
	var events []string
	for lines.Scan() {
		if names, found := strings.CutPrefix(lines.Text(), "events: "); found {
			events = strings.Fields(names)
		}
		if values, found := strings.CutPrefix(lines.Text(), "totals: "); found {
			return n, n.add(events, strings.Fields(values))
		}
	}
	return n, errors.Join(errNoTotals, lines.Err())
}

// add adds values of events, which Callgrind names.
func (n *Counts) add(events, values []string) error {
	sums := map[string]*float64{
		"Ir": &n.Instructions, "I1mr": &n.Code, "D1mr": &n.Data, "D1mw": &n.Data, "ILmr": &n.Far, "DLmr": &n.Far, "DLmw": &n.Far,
	}
	for i, value := range values {
		if i >= len(events) || sums[events[i]] == nil {
			continue
		}
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return err
		}
		*sums[events[i]] += v
	}
	return nil
}
