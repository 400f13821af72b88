package admin

import (
	"io"
	"net/http"
)

// livePath is the one path that is served without the token.
const livePath = "/livez"

// routes are all that the listener serves, on a mux of its own: what a library
// registers with http.DefaultServeMux is not served.
func (s *Server) routes(o Options) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+livePath, func(w http.ResponseWriter, _ *http.Request) { writeText(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", s.ready)
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
