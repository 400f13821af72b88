package discovertest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// APIServer speaks what a Kubernetes API server speaks of EndpointSlices: lists in pages, watches
// with bookmarks, 410 for versions that it has forgotten, tokens. Its objects are as a cluster of
// 1.33 showed them, cut to what is about endpoints.
type APIServer struct {
	*httptest.Server // by TLS

	mu      sync.Mutex // guards the fields below
	token   string     // "": anybody may ask
	page    int        // objects of a page; 0: all
	version int
	oldest  int // versions before are forgotten
	slices  map[string]map[string]any
	history []change
	watches map[*watch]struct{}
	lists   int
	speak   string          // protocol of ports that are put; "": TCP
	failing int             // status of each answer; 0: none
	said    map[bool]string // text of each list (false) or watch (true); "": none
}

type change struct {
	version int
	event   map[string]any
}

type watch struct {
	service string
	events  chan map[string]any
	cut     chan struct{}
}

// NewAPIServer serves until the test ends.
func NewAPIServer(t testing.TB) *APIServer {
	s := &APIServer{version: 1000, slices: map[string]map[string]any{}, watches: map[*watch]struct{}{}}
	s.Server = httptest.NewTLSServer(s)
	t.Cleanup(func() {
		s.Cut()
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// Endpoint is one endpoint of a slice.
type Endpoint struct {
	Pod, Address                string
	Ready, Serving, Terminating bool
}

// Put writes a slice of a service in namespace "default", with one port, and tells those who watch.
func (s *APIServer) Put(service, name, family string, port int, endpoints ...Endpoint) {
	list := []any{}
	for _, e := range endpoints {
		one := map[string]any{
			"addresses":  []string{e.Address},
			"conditions": map[string]any{"ready": e.Ready, "serving": e.Serving, "terminating": e.Terminating},
			"nodeName":   "node-1",
		}
		if e.Pod != "" {
			one["targetRef"] = map[string]any{"kind": "Pod", "namespace": "default", "name": e.Pod, "uid": "5f0c7d0e-" + e.Pod}
		}
		list = append(list, one)
	}
	s.put(name, map[string]any{
		"metadata": map[string]any{
			"name": name, "namespace": "default", "generateName": service + "-",
			"labels": map[string]any{"kubernetes.io/service-name": service, "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io"},
		},
		"addressType": family, "endpoints": list,
		"ports": []any{map[string]any{"name": "http", "port": port, "protocol": s.speaks()}},
	})
}

// Speak has ports that are put from now on be of this protocol; "": TCP.
func (s *APIServer) Speak(protocol string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.speak = protocol
}

func (s *APIServer) speaks() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.speak == "" {
		return "TCP"
	}
	return s.speak
}

func (s *APIServer) put(name string, slice map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kind := "ADDED"
	if s.slices[name] != nil {
		kind = "MODIFIED"
	}
	s.version++
	slice["kind"], slice["apiVersion"] = "EndpointSlice", "discovery.k8s.io/v1"
	slice["metadata"].(map[string]any)["resourceVersion"] = strconv.Itoa(s.version)
	s.slices[name] = slice
	s.tell(kind, slice)
}

// Delete removes a slice.
func (s *APIServer) Delete(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	slice := clone(s.slices[name])
	delete(s.slices, name)
	s.version++
	slice["metadata"].(map[string]any)["resourceVersion"] = strconv.Itoa(s.version)
	s.tell("DELETED", slice)
}

func clone(slice map[string]any) (copied map[string]any) {
	text, err := json.Marshal(slice)
	if err != nil || json.Unmarshal(text, &copied) != nil {
		panic("discovertest: a slice is no JSON")
	}
	return copied
}

// Bookmark tells those who watch which version it is, as if other objects had changed.
func (s *APIServer) Bookmark() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version += 100
	event := map[string]any{"type": "BOOKMARK", "object": map[string]any{
		"kind": "EndpointSlice", "apiVersion": "discovery.k8s.io/v1", "metadata": map[string]any{"resourceVersion": strconv.Itoa(s.version), "creationTimestamp": nil},
	}}
	for w := range s.watches {
		w.events <- event
	}
}

// Forget has all versions before this one be answered by 410.
func (s *APIServer) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.oldest, s.history = s.version, nil
}

// Expire ends all watches by an event of 410, as when the server's cache has moved on.
func (s *APIServer) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.watches {
		w.events <- map[string]any{"type": "ERROR", "object": status(http.StatusGone, "too old resource version")}
	}
}

// Cut breaks the connections of all watches, once they have what they were told.
func (s *APIServer) Cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.watches {
		close(w.cut)
		delete(s.watches, w)
	}
}

// Fail has each request be answered by this status; 0: not any more.
func (s *APIServer) Fail(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failing = status
}

// Say has lists and watches be answered by 200 and these texts; "": not any more.
func (s *APIServer) Say(list, watch string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = map[bool]string{false: list, true: watch}
}

// Demand has the server ask for a token from now on.
func (s *APIServer) Demand(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token = token
}

// Paginate has lists come in pages of this many.
func (s *APIServer) Paginate(most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.page = most
}

// Lists tells how many lists were begun, Watches how many watches stand.
func (s *APIServer) Lists() int { s.mu.Lock(); defer s.mu.Unlock(); return s.lists }

// Watches tells how many watches stand.
func (s *APIServer) Watches() int { s.mu.Lock(); defer s.mu.Unlock(); return len(s.watches) }

func (s *APIServer) tell(kind string, slice map[string]any) {
	event := map[string]any{"type": kind, "object": clone(slice)}
	s.history = append(s.history, change{s.version, event})
	for w := range s.watches {
		if w.service == serviceOf(slice) {
			w.events <- event
		}
	}
}

func serviceOf(slice map[string]any) string {
	labels := slice["metadata"].(map[string]any)["labels"].(map[string]any)
	return labels["kubernetes.io/service-name"].(string)
}

func status(code int, message string) map[string]any {
	return map[string]any{"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Failure", "message": message, "code": code}
}

// ServeHTTP implements [http.Handler].
func (s *APIServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	failing, token, said := s.failing, s.token, s.said[r.FormValue("watch") != ""]
	s.mu.Unlock()
	service, labelled := strings.CutPrefix(r.FormValue("labelSelector"), "kubernetes.io/service-name=")
	switch {
	case failing != 0:
		refuse(w, failing, "the server is not well")
	case token != "" && r.Header.Get("Authorization") != "Bearer "+token:
		refuse(w, http.StatusUnauthorized, "Unauthorized")
	case r.URL.Path != "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices":
		refuse(w, http.StatusForbidden, fmt.Sprintf("endpointslices.discovery.k8s.io is forbidden: cannot list %s", r.URL.Path))
	case r.Method != http.MethodGet || !labelled:
		refuse(w, http.StatusBadRequest, "the request is not one of discovery")
	case said != "":
		_, _ = io.WriteString(w, said)
	case r.FormValue("watch") != "":
		s.watch(w, r, service)
	default:
		s.list(w, r, service)
	}
}

func refuse(w http.ResponseWriter, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(status(code, message))
}

func (s *APIServer) list(w http.ResponseWriter, r *http.Request, service string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := []string{}
	for name, slice := range s.slices {
		if serviceOf(slice) == service {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	metadata := map[string]any{"resourceVersion": strconv.Itoa(s.version)}
	if after := r.FormValue("continue"); after != "" {
		names = slices.DeleteFunc(names, func(name string) bool { return name <= after })
	} else {
		s.lists++
	}
	if s.page > 0 && len(names) > s.page {
		names = names[:s.page]
		metadata["continue"] = names[s.page-1]
	}
	items := []any{}
	for _, name := range names {
		items = append(items, s.slices[name])
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"kind": "EndpointSliceList", "apiVersion": "discovery.k8s.io/v1", "metadata": metadata, "items": items})
}

func (s *APIServer) watch(w http.ResponseWriter, r *http.Request, service string) {
	from, err := strconv.Atoi(r.FormValue("resourceVersion"))
	if err != nil {
		refuse(w, http.StatusBadRequest, "resourceVersion: Invalid value")
		return
	}
	one := &watch{service: service, events: make(chan map[string]any, 1000), cut: make(chan struct{})}
	s.mu.Lock()
	if from < s.oldest {
		s.mu.Unlock()
		refuse(w, http.StatusGone, fmt.Sprintf("too old resource version: %d (%d)", from, s.oldest))
		return
	}
	for _, c := range s.history {
		if object := c.event["object"].(map[string]any); c.version > from && serviceOf(object) == service {
			one.events <- c.event
		}
	}
	s.watches[one] = struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.watches, one)
		s.mu.Unlock()
	}()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	flusher := w.(http.Flusher)
	flusher.Flush()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-one.cut:
			for len(one.events) > 0 {
				_ = json.NewEncoder(w).Encode(<-one.events)
			}
			flusher.Flush()
			panic(http.ErrAbortHandler)
		case event := <-one.events:
			_ = json.NewEncoder(w).Encode(event)
			flusher.Flush()
		}
	}
}
