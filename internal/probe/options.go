package probe

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"berth/internal/exchange"
)

// Bounds of one run.
const (
	// MaxRounds is the most that Options.Rounds may be.
	MaxRounds = 100

	pollsPerTask    = 3  // tasks/get
	pingsPerSession = 2  // ping
	streams         = 5  // at most: standing streams opened, lists asked for, tasks listened to
	listenStreams   = 3  // subscriptions/listen, one after the other
	foreignLooks    = 3  // at a task or session of the other principal
	keptTasks       = 2  // made on the kept connection
	cleanAttempts   = 8  // to cancel a task or end a session, for cleaning up
	maxFailures     = 5  // in a row, and the run ends
	overhead        = 16 // requests that come once a run: discover, lists of tools, the other principal's session
)

// Options say what a run probes. The zero value of a field means what it says; URL and
// Rounds, Rate and Limit are required.
type Options struct {
	// URL is the MCP endpoint.
	URL string

	// Second is another address of the same service, where all that was made at URL
	// must be found too. Empty: none.
	Second string

	// Tool is the tool to call for tasks. Empty: one that is annotated as read-only and
	// needs no arguments, if there is one.
	Tool string

	// Args are the arguments of Tool, a JSON object. Nil: none.
	Args json.RawMessage

	// Header is sent with every request. Values are never reported.
	Header http.Header

	// Principals are further headers, one set for each of at most two callers. The
	// first makes everything; what is its own must not be visible to the second.
	Principals []http.Header

	// Rounds is how many tasks are made, and sessions opened, in each era; at most
	// MaxRounds.
	Rounds int

	// Rate is how many requests a second are sent at most.
	Rate float64

	// Limit bounds the time of a run, cleaning up aside.
	Limit time.Duration

	// Dial makes connections. Nil: over TCP.
	Dial exchange.Dial
}

// Validate returns what is wrong with o, nil if nothing is. It repeats no header and
// no URL, which may bear credentials.
func (o Options) Validate() error {
	for _, address := range o.addresses() {
		if err := validateURL(address); err != nil {
			return err
		}
	}
	var args map[string]json.RawMessage
	switch {
	case o.Rounds < 1 || o.Rounds > MaxRounds:
		return fmt.Errorf("rounds: must be 1 to %d", MaxRounds)
	case !(o.Rate > 0 && o.Rate <= 1000):
		return errors.New("rate: must be above 0 and at most 1000 requests a second")
	case o.Limit <= 0:
		return errors.New("limit: must be above 0")
	case len(o.Principals) > 2:
		return errors.New("principals: at most two")
	case o.Args != nil && o.Tool == "":
		return errors.New("args: for which tool?")
	case o.Args != nil && (json.Unmarshal(o.Args, &args) != nil || args == nil):
		return errors.New("args: must be a JSON object")
	}
	return nil
}

func validateURL(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return errors.New("URL: cannot be parsed")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return errors.New("URL: must be http://HOST… or https://HOST…")
	case u.User != nil:
		return errors.New("URL: credentials belong into a header")
	}
	return nil
}

func (o Options) addresses() []string {
	if o.Second == "" {
		return []string{o.URL}
	}
	return []string{o.URL, o.Second}
}

// OnLoopback reports whether all that o probes is on this machine: its host is
// localhost or a loopback address. No name is resolved.
func (o Options) OnLoopback() bool {
	for _, address := range o.addresses() {
		u, err := url.Parse(address)
		if err != nil || !isLoopback(u.Hostname()) {
			return false
		}
	}
	return true
}

func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.Unmap().IsLoopback()
}

// MaxTasks is how often a run calls the tool at most.
func (o Options) MaxTasks() int { return 2*o.Rounds + keptTasks + len(o.Principals) }

// MaxSessions is how many sessions a run opens at most.
func (o Options) MaxSessions() int { return o.Rounds + 2 }

// MaxRequests is how many requests a run sends at most, cleaning up included.
func (o Options) MaxRequests() int { return o.maxMeasuring() + o.maxCleaning() }

// maxMeasuring counts, for each task: the call, polls, the result, the cancelling, a
// last look, and a look at the second address; for each session: initialize,
// initialized, pings, a standing stream, a list, the end.
func (o Options) maxMeasuring() int {
	task := 1 + pollsPerTask + 1 + 1 + 1 + 1
	session := 2 + pingsPerSession + 1 + 1 + 1
	return o.MaxTasks()*task + o.MaxSessions()*session + listenStreams + 2*foreignLooks + overhead
}

func (o Options) maxCleaning() int { return cleanAttempts * (o.MaxTasks() + o.MaxSessions()) }

// Addresses are the hosts and ports that a run connects to, as the URLs name them.
func (o Options) Addresses() []string {
	var hosts []string
	for _, address := range o.addresses() {
		u, err := url.Parse(address)
		if err != nil {
			continue
		}
		hosts = append(hosts, net.JoinHostPort(u.Hostname(), portOf(u)))
	}
	return hosts
}

func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// shown is a URL without its query, which may hold a key.
func shown(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}
