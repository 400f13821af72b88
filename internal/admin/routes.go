package admin

import (
	"io"
	"net/http"
)

const (
	livePath  = "/livez" // the one path that is served without the token
	readyPath = "/readyz"
)

// routes are all that the listener serves, on a mux of its own: what a library
// registers with http.DefaultServeMux is not served.
func (s *Server) routes(o Options) http.Handler {
	mux := http.NewServeMux()
	live := func(w http.ResponseWriter, _ *http.Request) { writeText(w, http.StatusOK, "ok") }
	// OPTIONS is how HAProxy asks where its check names a path alone.
	for _, method := range []string{http.MethodGet, http.MethodOptions} {
		mux.HandleFunc(method+" "+livePath, live)
		mux.HandleFunc(method+" "+readyPath, s.ready)
	}
	if o.Metrics != nil {
		mux.Handle("GET /metrics", o.Metrics)
	}
	return mux
}

func writeText(w http.ResponseWriter, status int, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	io.WriteString(w, text+"\n")
}
