// Reverseproxy is net/http/httputil's ReverseProxy as it is, before the instances that are named on the command line,
// which take turns. It checks nothing and keeps nothing: what it costs is what net/http costs on both sides.
//
//	reverseproxy ADDRESS METRICS-SOCKET URL…
package main

import (
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"sync/atomic"

	"berth/integration/bench/mallocs"
)

func main() {
	if len(os.Args) < 4 {
		log.Fatal("reverseproxy: ADDRESS METRICS-SOCKET URL…")
	}
	upstreams := make([]*url.URL, 0, len(os.Args)-3)
	for _, arg := range os.Args[3:] {
		u, err := url.Parse(arg)
		if err != nil {
			log.Fatal(err)
		}
		upstreams = append(upstreams, u)
	}
	go func() { log.Fatal(mallocs.Serve(os.Args[2])) }()
	log.Fatal(http.ListenAndServe(os.Args[1], newProxy(upstreams)))
}

func newProxy(upstreams []*url.URL) http.Handler {
	var turn atomic.Uint64
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(upstreams[turn.Add(1)%uint64(len(upstreams))])
			r.SetXForwarded()
		},
		Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 4096},
	}
}
