package client

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"berth/internal/exchange"
	"berth/internal/wire"
)

// A field whose name has a number, and which was judged, is written by another way than others: what comes of it is the same, and one
// that frames, or says whom the message is for, goes by neither.
func TestFieldsOfUsualNamesAreWrittenAsOthersAre(t *testing.T) {
	written := func(fields ...wire.Field) string {
		h := new(wire.Header)
		for _, f := range fields {
			h.Append(f)
		}
		b, keep, err := appendHead(nil, &exchange.Request{
			Method: "POST", URL: &url.URL{Scheme: "http", Host: "a.example", Path: "/mcp"}, Header: h, Body: []byte("{}"),
		}, new(opening))
		return fmt.Sprintf("%q %v %v", b, keep, err)
	}
	for _, name := range wire.UsualNames() {
		for _, value := range []string{"", "a", "close", "99", "chunked"} {
			plain, own := wire.Field{Name: name, Value: value}, wire.Own(name, value)
			last := wire.Field{Name: "X-Last", Value: "z"}
			if got, want := written(own, own, last), written(plain, plain, last); got != want {
				t.Errorf("%s: %q: got %s, want %s", name, value, got, want)
			}
		}
	}
}

// However the requests of a connection begin, one after the other, each is written as if it were the first.
func TestAHeadBeginsAsIfItWereTheFirst(t *testing.T) {
	others := []*url.URL{
		{Path: "/mcq"}, {}, {Path: "/a b"}, {Path: "/mcp", RawPath: "/%6dcp"}, {Path: "*"}, {Path: "/mcp", RawQuery: "a=b"}, {Path: "/mcp", ForceQuery: true},
		{Path: "/mcp?"}, {Path: "/mcp", Opaque: "/mcq"}, {Path: "/mcp", Opaque: "//a.example/mcp", Scheme: "http"}, {Path: "/mcp", RawQuery: "\n"},
		{Path: "/" + strings.Repeat("a", mostKept)}, {Path: "/mcp HTTP/1.1"}, {Path: "/p HTTP/1.1\r\nHost: x"},
	}
	var urls []*url.URL
	for _, u := range others {
		urls = append(urls, &url.URL{Path: "/mcp"}, u)
	}
	urls = append(urls, &url.URL{Path: "/mcp"})
	hosts := []string{"a.example", "b.example", "", "[::1%eth0]:80", "[::1]:80", "b\u00fccher.example", "xn--bcher-kva.example", "a b", "a\r\nb", "x.example"}
	var kept opening
	for _, method := range []string{"POST", "GET", "", "CONNECT", "A B"} {
		for i := range 2 * len(urls) * len(hosts) {
			u := *urls[i/2%len(urls)]
			u.Host = "c.example"
			r := &exchange.Request{Method: method, URL: &u, Host: hosts[i/2/len(urls)], Header: new(wire.Header)}
			want, _, failed := appendHead([]byte("before"), r, new(opening))
			got, _, err := appendHead([]byte("before"), r, &kept)
			if fmt.Sprintf("%q %v", got, err) != fmt.Sprintf("%q %v", want, failed) {
				t.Errorf("got %q, %v; want %q, %v", got, err, want, failed)
			}
		}
	}
}

// A target that is written longer and a host that is written shorter than they are leave no opening that others would be taken for.
func TestAnOpeningIsKeptOfWordsAsTheyAre(t *testing.T) {
	var kept opening
	for _, r := range []*exchange.Request{
		{URL: &url.URL{Path: "/a b"}, Host: "[::1%a]", Header: new(wire.Header)},
		{URL: &url.URL{Path: "/a%2"}, Host: ": [::1]", Header: new(wire.Header)},
	} {
		want, _, _ := appendHead(nil, r, new(opening))
		if got, _, _ := appendHead(nil, r, &kept); string(got) != string(want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// What is kept of a request are the words of its beginning alone, and few of them.
func TestAnOpeningKeepsNoQuery(t *testing.T) {
	var kept opening
	for _, u := range []*url.URL{{Path: "/mcp", RawQuery: "token=x"}, {Path: "/" + strings.Repeat("x", mostKept)}} {
		for range 2 {
			if _, _, err := appendHead(nil, &exchange.Request{Method: "GET", URL: u, Host: "a.example", Header: new(wire.Header)}, &kept); err != nil {
				t.Fatal(err)
			}
		}
		if len(kept.text) > 0 {
			t.Errorf("kept %q", kept.text)
		}
	}
}
