package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
)

type guard struct {
	token        string
	loopbackOnly bool // off loopback a token protects, on a socket its mode
	page         map[string]http.Handler
	next         http.Handler
}

func (g guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if g.loopbackOnly && !isLoopbackName(r.Host) && !isBareCheck(r) {
		writeText(w, http.StatusForbidden, "this listener answers to loopback names only")
		return
	}
	if file, ok := g.page[r.URL.Path]; ok && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		file.ServeHTTP(w, r)
		return
	}
	if r.URL.Path != livePath && !g.authorized(r) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="berth admin"`)
		writeText(w, http.StatusUnauthorized, "a bearer token is required")
		return
	}
	g.next.ServeHTTP(w, r)
}

// isBareCheck reports whether a request is a health check without Host, as HAProxy's are. No
// browser sends one: it cannot come from a page that rebound its name.
func isBareCheck(r *http.Request) bool {
	return r.Host == "" && (r.URL.Path == livePath || r.URL.Path == readyPath)
}

// authorized compares digests, in constant time: neither the token's bytes nor its length show.
// More than one Authorization header is none.
func (g guard) authorized(r *http.Request) bool {
	if g.token == "" {
		return true
	}
	values := r.Header["Authorization"]
	if len(values) != 1 {
		return false
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	got, want := sha256.Sum256([]byte(strings.TrimSpace(token))), sha256.Sum256([]byte(g.token))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

const (
	livePath  = "/livez" // beside the page's files, the one path that is served without the token
	readyPath = "/readyz"
)

// handler is what the listener serves, and to whom.
func (s *Server) handler(o Options, listener net.Listener, loopbackOnly bool) http.Handler {
	if o.probes {
		mux := http.NewServeMux()
		s.health(mux, s.readyAtAll)
		return exactly(mux, livePath, readyPath)
	}
	return ordered(guard{token: o.Token, loopbackOnly: loopbackOnly, page: o.Page, next: s.routes(o)}, o.Routes, o.by(listener), o.Ordered)
}

// exactly serves these paths as they are written, and sends nobody from another spelling to them.
func exactly(next http.Handler, paths ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !slices.Contains(paths, r.URL.Path) {
			http.NotFound(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// routes are all that is served, on a mux of its own: not what a library registers with
// http.DefaultServeMux.
func (s *Server) routes(o Options) http.Handler {
	mux := http.NewServeMux()
	s.health(mux, s.ready)
	if o.Pprof {
		profiles(mux)
	}
	commands(mux, o.Routes)
	if o.Metrics != nil {
		mux.Handle("GET /metrics", o.Metrics)
	}
	return mux
}

// health serves the health endpoints.
func (s *Server) health(mux *http.ServeMux, ready http.HandlerFunc) {
	live := func(w http.ResponseWriter, _ *http.Request) { writeText(w, http.StatusOK, "ok") }
	// OPTIONS is how HAProxy asks where its check names a path alone.
	for _, method := range []string{http.MethodGet, http.MethodOptions} {
		mux.HandleFunc(method+" "+livePath, live)
		mux.HandleFunc(method+" "+readyPath, ready)
	}
}

func writeText(w http.ResponseWriter, status int, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	io.WriteString(w, text+"\n")
}
