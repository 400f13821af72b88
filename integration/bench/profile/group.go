package profile

import "slices"

import "strings"

// A group is a part of a program's work, known by the functions that do it.
type group struct {
	name  string
	marks []string // what a function of it begins with
	but   string   // what one begins with that is its caller's work all the same; "": nothing
}

// anywhere are groups that have a sample if any function on its stack is theirs: whoever called them, it is their work.
// The first wins.
var anywhere = []group{
	{"garbage and memory", []string{
		"runtime.mallocgc", "runtime.newobject", "runtime.makeslice", "runtime.growslice", "runtime.rawstring", "runtime.rawbyteslice",
		"runtime.gc", "runtime.bgsweep", "runtime.bgscavenge", "runtime.(*mheap)", "runtime.(*mcache)", "runtime.(*mcentral)", "runtime.(*gc",
		"runtime.wbBuf", "runtime.morestack", "runtime.newstack", "runtime.makemap", "runtime.memclrNoHeap", "runtime.deductAssistCredit",
	}, ""},
	{"scheduler and netpoll", []string{
		"runtime.mcall", "runtime.schedule", "runtime.findRunnable", "runtime.park_m", "runtime.netpoll", "runtime.goready", "runtime.ready",
		"runtime.gopark", "runtime.wakep", "runtime.startm", "runtime.stopm", "runtime.mstart", "runtime.newproc", "runtime.goexit0", "runtime.sysmon",
		"runtime.entersyscall", "runtime.exitsyscall", "runtime.reentersyscall", "runtime.goschedImpl", "runtime.gosched_m", "runtime.semrelease",
		"runtime.semacquire", "runtime.chan", "runtime.selectgo", "runtime.sellock", "runtime.(*timer", "runtime.systemstack_switch",
	}, ""},
	{"system calls", []string{"syscall.", "internal/runtime/syscall", "runtime/internal/syscall", "internal/syscall"}, ""},
}

// nearest are groups that have a sample if theirs is the first function, from the leaf on, that is anybody's: what the
// standard library does is the work of who called it.
var nearest = []group{
	{"audit, metrics, log", []string{
		"berth/proxy/audit", "berth/internal/auditlog", "berth/internal/journal", "berth/internal/telemetry", "berth/internal/series",
		"berth/internal/trouble", "log/slog", "go.opentelemetry.io/", "github.com/prometheus/",
	}, ""},
	{"h1", []string{"berth/internal/h1", "berth/internal/preamble", "berth/internal/connlimit", "berth/internal/framing"}, ""},
	{"net/http", []string{"net/http"}, "net/http.Header"},
	{"TLS", []string{"crypto/", "vendor/golang.org/x/crypto"}, ""},
	{"inbound: what a call is", []string{"berth/proxy/inbound", "berth/internal/mcp", "berth/internal/identity"}, ""},
	{"routing and bindings", []string{"berth/routing", "berth/sticky", "berth/internal/recent", "github.com/hashicorp/golang-lru"}, ""},
	{"store", []string{"berth/internal/storage", "github.com/redis/", "go.etcd.io/", "github.com/sony/gobreaker"}, ""},
	{"admission", []string{"berth/proxy/admission", "berth/internal/limit"}, ""},
	{"outbound and answer", []string{"berth/proxy/outbound", "berth/internal/exchange", "berth/proxy/reply", "berth/proxy/record"}, ""},
	{"upgraded tasks", []string{"berth/upgrade", "berth/proxy/tasks", "berth/proxy/sessiontasks"}, ""},
	{"pipeline", []string{"berth/proxy", "berth/internal/wire", "berth/internal/command", "berth/internal/site"}, ""},
}

// rest is what no group has.
const rest = "the rest"

// of is the name of the group that a stack belongs to, its leaf first.
func of(stack []string) string {
	for _, g := range anywhere {
		if slices.ContainsFunc(stack, g.has) {
			return g.name
		}
	}
	for _, function := range stack {
		for _, g := range nearest {
			if g.has(function) {
				return g.name
			}
		}
	}
	return rest
}

func (g group) has(function string) bool {
	if g.but != "" && strings.HasPrefix(function, g.but) {
		return false
	}
	for _, mark := range g.marks {
		if strings.HasPrefix(function, mark) {
			return true
		}
	}
	return false
}

// names are those of all groups, in the order in which they are told.
func names() (all []string) {
	for _, g := range append(anywhere[:len(anywhere):len(anywhere)], nearest...) {
		all = append(all, g.name)
	}
	return append(all, rest)
}
