package profile

import (
	"maps"
	"math"
	"strings"
	"testing"
)

// traces is what "go tool pprof -traces" prints.
const traces = `File: berth
Type: cpu
Time: 2026-11-23 18:30:00 UTC
Duration: 10s, Total samples = 100ms (1.00%)
-----------+-------------------------------------------------------
      50ms   internal/runtime/syscall/linux.Syscall6
             syscall.write
             internal/poll.(*FD).Write
             net.(*conn).Write
             berth/internal/h1/server.(*conn).serve
-----------+-------------------------------------------------------
      20ms   runtime.mallocgc
             runtime.newobject (inline)
             berth/sticky.(*Table).Find
-----------+-------------------------------------------------------
     bytes:  16
      20ms   runtime.memmove
             bytes.(*Buffer).Write (inline)
             berth/sticky.(*Table).Find
             berth/proxy.(*Proxy).Serve
             berth/internal/h1/server.(*conn).serve
-----------+-------------------------------------------------------
      10ms   main.main
-----------+-------------------------------------------------------
`

func TestEachSampleIsOneGroups(t *testing.T) {
	got, err := shares(strings.NewReader(traces))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"system calls": 0.5, "garbage and memory": 0.2, "routing and bindings": 0.2, rest: 0.1}
	if !maps.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAProfileWithoutSamplesIsAnError(t *testing.T) {
	if got, err := shares(strings.NewReader("File: berth\nType: cpu\n")); err == nil {
		t.Errorf("got %v, want an error", got)
	}
}

func TestWhoWaitsForAConnectionIsTheSchedulersAndWhoReadsItIsNot(t *testing.T) {
	for want, stack := range map[string][]string{
		"scheduler and netpoll":   {"internal/runtime/syscall/linux.Syscall6", "internal/runtime/syscall/linux.EpollWait", "runtime.netpoll", "runtime.findRunnable"},
		"system calls":            {"internal/runtime/syscall/linux.Syscall6", "syscall.read", "internal/poll.(*FD).Read", "net/http.(*conn).serve"},
		"net/http":                {"net/textproto.canonicalMIMEHeaderKey", "net/http.Header.Get", "net/http.(*conn).serve"},
		"routing and bindings":    {"net/textproto.canonicalMIMEHeaderKey", "net/http.Header.Get", "berth/routing.(*Pool).Pick", "net/http.(*conn).serve"},
		"pipeline":                {"time.Now", "berth/proxy.(*Proxy).Serve", "berth/internal/h1/server.(*conn).serve"},
		"inbound: what a call is": {"berth/proxy/inbound.Classify", "berth/proxy.(*Proxy).Serve"},
	} {
		if got := of(stack); got != want {
			t.Errorf("%v: got %s, want %s", stack, got, want)
		}
	}
}

func TestCallsAreReadFromTheSummary(t *testing.T) {
	const summary = `% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 60.00    0.100000           5     20000        12 read
 40.00    0.050000           5     10000           write
------ ----------- ----------- --------- --------- ----------------
100.00    0.150000           5     30000        12 total
`
	got, err := calls(strings.NewReader(summary))
	if want := map[string]float64{"read": 20000, "write": 10000}; err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

func TestTablesHaveAColumnForEachContender(t *testing.T) {
	columns := []Column{{"nginx", map[string]float64{"writev": 2, "brk": 0.001}}, {"berth", map[string]float64{"write": 1, "read": 3}}}
	const want = "| a poll: system calls a request | nginx | berth |\n| --- | ---: | ---: |\n" +
		"| read | 0.00 | 3.00 |\n| writev | 2.00 | 0.00 |\n| write | 0.00 | 1.00 |\n| all | 2.00 | 4.00 |\n"
	if got := CallsTable("a poll", columns); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	const parts = "| a poll: CPU time of | berth |\n| --- | ---: |\n| system calls | 60.0 % |\n| the rest | 40.0 % |\n"
	if got := SharesTable("a poll", []Column{{"berth", map[string]float64{"system calls": 0.6, rest: 0.4}}}); got != parts {
		t.Errorf("got\n%s\nwant\n%s", got, parts)
	}
}
