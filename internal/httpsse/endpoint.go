package httpsse

import (
	"net/url"
	"strings"
)

// resolve returns the endpoint that a stream at that URL announces; ok is false for one of
// another origin: the client's credentials are not for that.
func resolve(at *url.URL, announced string) (endpoint *url.URL, ok bool) {
	named, err := url.Parse(strings.TrimSpace(announced))
	if err != nil || announced == "" {
		return nil, false
	}
	endpoint = at.ResolveReference(named)
	if endpoint.Scheme != at.Scheme || origin(endpoint) != origin(at) || named.User != nil {
		return nil, false
	}
	endpoint.Host, endpoint.User, endpoint.Fragment, endpoint.RawFragment = at.Host, at.User, "", ""
	return endpoint, true
}

// origin is the authority of a URL, without what goes without saying.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return strings.ToLower(u.Hostname()) + ":" + port
}
