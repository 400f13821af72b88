package discover_test

import (
	"encoding/pem"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/discover"
	"berth/internal/discover/discovertest"
	"berth/internal/realtest"
	"berth/internal/reload"
)

// cluster is an API server and what a pod has to reach it.
type cluster struct {
	*discovertest.APIServer
	options discover.KubernetesOptions
}

func newCluster(t *testing.T) *cluster {
	server := discovertest.NewAPIServer(t)
	dir := t.TempDir()
	c := &cluster{server, discover.KubernetesOptions{
		Service: "mcp", Template: template, API: server.URL,
		TokenFile: filepath.Join(dir, "token"), CAFile: filepath.Join(dir, "ca.crt"), NamespaceFile: filepath.Join(dir, "namespace"),
	}}
	write(t, c.options.TokenFile, "first\n")
	write(t, c.options.NamespaceFile, "default")
	write(t, c.options.CAFile, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	server.Demand("first")
	return c
}

func (c *cluster) hear(t *testing.T) *hearer { return hear(t, discover.NewKubernetes(c.options)) }

func ready(pod, address string) discovertest.Endpoint {
	return discovertest.Endpoint{Pod: pod, Address: address, Ready: true, Serving: true}
}

func TestPodsAreInstances(t *testing.T) {
	c := newCluster(t)
	c.Put("other", "other-x", "IPv4", 80, ready("other-1", "10.0.9.9"))
	c.Put("mcp", "mcp-a", "IPv4", 7101, ready("mcp-1", "10.0.0.1"))
	h := c.hear(t)
	h.await(t, "mcp-1@10.0.0.1:7101")
	// Another slice, as a service of more than a hundred pods has.
	c.Put("mcp", "mcp-b", "IPv4", 7101, ready("mcp-2", "10.0.0.2"))
	h.await(t, "mcp-1@10.0.0.1:7101, mcp-2@10.0.0.2:7101")
	// One that is not ready, and one that goes.
	c.Put("mcp", "mcp-a", "IPv4", 7101, discovertest.Endpoint{Pod: "mcp-1", Address: "10.0.0.1", Serving: true, Terminating: true}, discovertest.Endpoint{Pod: "mcp-3", Address: "10.0.0.3"})
	h.await(t, "mcp-1@10.0.0.1:7101 drains, mcp-2@10.0.0.2:7101, mcp-3@10.0.0.3:7101 drains")
	c.Put("mcp", "mcp-a", "IPv4", 7101, ready("mcp-3", "10.0.0.3"))
	h.await(t, "mcp-2@10.0.0.2:7101, mcp-3@10.0.0.3:7101")
	c.Delete("mcp-b")
	h.await(t, "mcp-3@10.0.0.3:7101")
	c.Put("mcp", "mcp-a", "IPv4", 7101)
	h.await(t, "")
	if got := c.Lists(); got != 1 {
		t.Errorf("got %d lists, want one: the rest is the watch's to tell", got)
	}
}

// A pod has one name, however many endpoints are of it.
func TestAPodIsOneInstance(t *testing.T) {
	c := newCluster(t)
	c.Put("mcp", "mcp-6", "IPv6", 7101, ready("mcp-1", "fd00::1"))
	c.Put("mcp", "mcp-4", "IPv4", 7101, ready("mcp-1", "10.0.0.1"))
	h := c.hear(t)
	h.await(t, "mcp-1@10.0.0.1:7101")
	// A pod of a StatefulSet that goes while its successor is there already.
	c.Put("mcp", "mcp-4", "IPv4", 7101, discovertest.Endpoint{Pod: "mcp-1", Address: "10.0.0.1", Terminating: true}, ready("mcp-1", "10.0.0.9"))
	h.await(t, "mcp-1@10.0.0.9:7101")
	// What is no pod goes by its address.
	c.Put("mcp", "mcp-6", "IPv6", 7101, ready("", "fd00::2"))
	h.await(t, "[fd00::2]:7101, mcp-1@10.0.0.9:7101")
}

func TestThePortIsFoundByNameOrNumber(t *testing.T) {
	for port, want := range map[string]string{"": "a@10.0.0.1:7101", "http": "a@10.0.0.1:7101", "7101": "a@10.0.0.1:7101"} {
		c := newCluster(t)
		c.options.Port = port
		c.Put("mcp", "mcp-a", "IPv4", 7101, ready("a", "10.0.0.1"))
		c.hear(t).await(t, want)
	}
	c := newCluster(t)
	c.options.Port = "grpc"
	c.Put("mcp", "mcp-a", "IPv4", 7101, ready("a", "10.0.0.1"))
	c.hear(t).awaitError(t, `no port "grpc", it has [7101 ("http")]`)
}

// A slice may be of pods that do not have the port, as in the middle of a rollout.
func TestSlicesWithoutThePortArePassedOver(t *testing.T) {
	for port, none := range map[string]string{"7102": `no port "7102", it has [7101 ("http")]`, "http": `no port "http", it has []`, "": "the service has no port"} {
		c := newCluster(t)
		c.options.Port = port
		without := map[string]int{"7102": 7101, "http": 0, "": 70000}[port]
		c.Put("mcp", "mcp-a", "IPv4", without, ready("a", "10.0.0.1"))
		h := c.hear(t)
		h.awaitError(t, none)
		c.Put("mcp", "mcp-b", "IPv4", 7102, ready("b", "10.0.0.2"))
		h.await(t, "b@10.0.0.2:7102")
		c.Put("mcp", "mcp-a", "IPv4", 7102, ready("a", "10.0.0.1"))
		h.await(t, "a@10.0.0.1:7102, b@10.0.0.2:7102")
	}
}

// What is no list is not one of nothing.
func TestWhatIsNoListIsAnError(t *testing.T) {
	for said, words := range map[string]string{
		"{}": `of the kind ""`, "null": `of the kind ""`, `{"kind":"PodList","metadata":{"resourceVersion":"5"},"items":[]}`: `of the kind "PodList"`,
		`{"kind":"Status","status":"Failure","message":"etcd is down","code":500}`: "HTTP 500: etcd is down", "[]": "reading the list", "<html>": "reading the list",
	} {
		c := newCluster(t)
		c.Put("mcp", "mcp-a", "IPv4", 7101, ready("a", "10.0.0.1"))
		h := c.hear(t)
		h.await(t, "a@10.0.0.1:7101")
		realtest.Eventually(t, "watch", func() bool { return c.Watches() == 1 })
		c.Say(said, said)
		c.Cut()
		h.awaitError(t, words)
		c.Say("", "")
		h.await(t, "a@10.0.0.1:7101")
	}
}

// Where watches tell nothing that can be understood, lists do.
func TestAWatchThatTellsNothingIsReplacedByLists(t *testing.T) {
	for _, said := range []string{" ", "<html>", "{}", "[]", "null", `{"type":"ERROR","object":null}`, `{"type":"ADDED","object":{"metadata":{}}}`} {
		c := newCluster(t)
		c.Say("", said)
		c.Put("mcp", "mcp-a", "IPv4", 7101, ready("a", "10.0.0.1"))
		h := c.hear(t)
		h.await(t, "a@10.0.0.1:7101")
		c.Put("mcp", "mcp-a", "IPv4", 7101, ready("b", "10.0.0.1"))
		h.await(t, "b@10.0.0.1:7101")
	}
}

// A watch that is cut goes on where it was; what was changed meanwhile is told.
func TestACutWatchGoesOnWhereItWas(t *testing.T) {
	c := newCluster(t)
	c.Put("mcp", "mcp-a", "IPv4", 7101, ready("a", "10.0.0.1"))
	h := c.hear(t)
	h.await(t, "a@10.0.0.1:7101")
	for i, pod := range []string{"b", "c", "d"} {
		realtest.Eventually(t, "watch", func() bool { return c.Watches() == 1 })
		if i == 1 {
			c.Bookmark()
			c.Forget() // what came before the bookmark
		}
		c.Cut()
		c.Put("mcp", "mcp-a", "IPv4", 7101, ready(pod, "10.0.0.1"))
		h.await(t, pod+"@10.0.0.1:7101")
	}
	if got := c.Lists(); got != 1 || h.failures() != 0 {
		t.Errorf("got %d lists and %d failures, want one and none", got, h.failures())
	}
}

// What the server has forgotten is listed anew, in either way that it says so.
func TestWhatIsForgottenIsListedAnew(t *testing.T) {
	c := newCluster(t)
	c.Put("mcp", "mcp-a", "IPv4", 7101, ready("a", "10.0.0.1"))
	h := c.hear(t)
	realtest.Eventually(t, "watch", func() bool { return c.Watches() == 1 })
	c.Fail(http.StatusServiceUnavailable)
	c.Cut()
	c.Delete("mcp-a")
	c.Put("mcp", "mcp-b", "IPv4", 7101, ready("b", "10.0.0.2"))
	h.awaitError(t, "HTTP 503: the server is not well")
	c.Forget()
	c.Put("mcp", "mcp-c", "IPv4", 7101, ready("c", "10.0.0.3"))
	c.Fail(0)
	h.await(t, "b@10.0.0.2:7101, c@10.0.0.3:7101")
	if got := c.Lists(); got != 2 {
		t.Errorf("410: got %d lists, want 2", got)
	}
	realtest.Eventually(t, "watch", func() bool { return c.Watches() == 1 })
	c.Expire()
	c.Put("mcp", "mcp-c", "IPv4", 7101)
	h.await(t, "b@10.0.0.2:7101")
	if got := c.Lists(); got != 3 {
		t.Errorf("an event of 410: got %d lists, want 3", got)
	}
}

func TestListsComeInPages(t *testing.T) {
	c := newCluster(t)
	c.Paginate(2)
	for _, name := range []string{"1", "2", "3", "4", "5"} {
		c.Put("mcp", "mcp-"+name, "IPv4", 7101, ready(name, "10.0.0."+name))
	}
	c.hear(t).await(t, "1@10.0.0.1:7101, 2@10.0.0.2:7101, 3@10.0.0.3:7101, 4@10.0.0.4:7101, 5@10.0.0.5:7101")
}

// The token is rotated while berth runs.
func TestTokensAreReadAnew(t *testing.T) {
	c := newCluster(t)
	c.Put("mcp", "mcp-a", "IPv4", 7101, ready("a", "10.0.0.1"))
	h := c.hear(t)
	realtest.Eventually(t, "watch", func() bool { return c.Watches() == 1 })
	c.Demand("second")
	c.Cut()
	h.awaitError(t, "HTTP 401: Unauthorized")
	write(t, c.options.TokenFile, "second")
	c.Put("mcp", "mcp-a", "IPv4", 7101, ready("b", "10.0.0.1"))
	h.await(t, "b@10.0.0.1:7101")
}

func TestWhatKeepsBerthFromTheAPIServerIsTold(t *testing.T) {
	for words, spoil := range map[string]func(c *cluster){
		"certificate":              func(c *cluster) { c.options.CAFile = "" },
		"reading the token":        func(c *cluster) { c.options.TokenFile += "x" },
		"reading berth's namespac": func(c *cluster) { c.options.NamespaceFile += "x" },
		"holds no certificate":     func(c *cluster) { c.options.CAFile = c.options.TokenFile },
		"HTTP 403: endpointslices": func(c *cluster) { c.options.Namespace = "other" },
		"connection refused":       func(c *cluster) { c.options.API = "https://127.0.0.1:1" },
	} {
		c := newCluster(t)
		spoil(c)
		c.hear(t).awaitError(t, words)
	}
}

// HTTP is spoken over TCP alone, whatever else a service has by that name or number.
func TestPortsOfOtherProtocolsArePassedOver(t *testing.T) {
	for port, none := range map[string]string{"": "the service has no port", "http": `no port "http", it has []`, "7101": `no port "7101", it has []`} {
		c := newCluster(t)
		c.options.Port = port
		c.Speak("UDP")
		c.Put("mcp", "mcp-a", "IPv4", 7101, ready("a", "10.0.0.1"))
		h := c.hear(t)
		h.awaitError(t, none)
		c.Speak("SCTP")
		c.Put("mcp", "mcp-a", "IPv4", 7101, ready("a", "10.0.0.1"))
		c.Speak("")
		c.Put("mcp", "mcp-b", "IPv4", 7101, ready("b", "10.0.0.2"))
		h.await(t, "b@10.0.0.2:7101")
	}
}

// Files that cannot be used are told before anybody is asked, each by its key.
func TestFilesAreJudgedByTheirKeys(t *testing.T) {
	for want, spoil := range map[string]func(c *cluster){
		"":            func(*cluster) {},
		"token_file":  func(c *cluster) { c.options.TokenFile += "x" },
		"token_file ": func(c *cluster) { write(t, c.options.TokenFile, "\n") },
		"ca_file":     func(c *cluster) { c.options.CAFile += "x" },
		"ca_file ":    func(c *cluster) { write(t, c.options.CAFile, "no certificate") },
		"namespace":   func(c *cluster) { c.options.NamespaceFile += "x" },
		"namespace token_file ca_file": func(c *cluster) {
			c.options = discover.KubernetesOptions{NamespaceFile: "/x", TokenFile: "/x", CAFile: "/x"}
		},
		" ": func(c *cluster) { c.options = discover.KubernetesOptions{Namespace: "default"} },
	} {
		c := newCluster(t)
		spoil(c)
		var keys []string
		for _, err := range reload.Each(discover.NewKubernetes(c.options).Judge()) {
			file, ok := errors.AsType[*reload.Error](err)
			if !ok || file.Error() == "" {
				t.Fatalf("got %T: %v", err, err)
			}
			keys = append(keys, file.Key)
		}
		if got := strings.Join(keys, " "); got != strings.TrimSpace(want) {
			t.Errorf("got faults of %q, want %q", got, want)
		}
	}
}
