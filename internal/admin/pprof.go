package admin

import (
	"context"
	"fmt"
	"net/http"
	"net/http/pprof"
	"strconv"
	"time"
)

// longestProfile bounds, in seconds, what one asks to be measured.
const longestProfile = 300

// profiles serve what package pprof does under /debug/pprof/, but for the command line, which may bear a
// secret.
func profiles(mux *http.ServeMux) {
	for pattern, serve := range map[string]http.HandlerFunc{
		"GET /debug/pprof/": pprof.Index, "GET /debug/pprof/cmdline": http.NotFound, "GET /debug/pprof/profile": pprof.Profile,
		"GET /debug/pprof/symbol": pprof.Symbol, "POST /debug/pprof/symbol": pprof.Symbol, "GET /debug/pprof/trace": pprof.Trace,
	} {
		mux.HandleFunc(pattern, patiently(serve))
	}
}

// patiently gives a request for what is measured over a time that time, beside the listener's own.
func patiently(serve http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
			writeText(w, http.StatusForbidden, "pages of other origins measure nothing here")
			return
		}
		seconds := 30 // as package pprof has it where none are named
		if text := r.URL.Query().Get("seconds"); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 || n > longestProfile {
				writeText(w, http.StatusBadRequest, fmt.Sprintf("seconds must be from 1 to %d", longestProfile))
				return
			}
			seconds = n
		}
		until := time.Now().Add(time.Duration(seconds)*time.Second + writeTimeout)
		_ = http.NewResponseController(w).SetWriteDeadline(until) // where none can be set there is none
		// Package pprof refuses what would outlast the server's own bound.
		serve(w, r.WithContext(context.WithValue(r.Context(), http.ServerContextKey, nil)))
	}
}
