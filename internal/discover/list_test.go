package discover_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"berth/internal/discover"
)

func TestListsAreReadWhole(t *testing.T) {
	list, err := discover.Parse([]byte(` [
		{"name": "b", "url": "https://B.example/x/mcp", "weight": 3, "backup": true},
		{"address": "10.0.0.1:7101", "drain": true, "era": "legacy"},
		{"url": "http://10.0.0.2/mcp"}
	] `), template)
	if err != nil {
		t.Fatal(err)
	}
	const want = "10.0.0.1:7101 drains, 10.0.0.2:80@10.0.0.2, b@b.example backup weight 3"
	if got := worded(list); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var urls []string
	for _, i := range list {
		urls = append(urls, i.URL.String()+i.Era)
	}
	if got, want := fmt.Sprint(urls), "[http://10.0.0.1:7101/mcplegacy http://10.0.0.2/mcp https://b.example/x/mcp]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if list, err := discover.Parse([]byte(`[{"name":"a","url":"http://h/x/y"},{"name":"b","url":"http://h/x%2Fy"}]`), template); err != nil || len(list) != 2 {
		t.Errorf("got %v, %v, want two: an escaped slash parts nothing", list, err)
	}
	if list, err := discover.Parse([]byte("[]"), template); err != nil || len(list) != 0 {
		t.Errorf("got %v, %v, want an empty list", list, err)
	}
}

// A slip is told with where it is, and is not taken for an instance that left.
func TestSlipsInListsAreTold(t *testing.T) {
	for text, words := range map[string]string{
		"":                                       "EOF",
		"null":                                   "must be a list",
		"{}":                                     "cannot unmarshal object",
		"[\n{\"url\":\"http://a/mcp\"},\n{":      "line 3",
		`[{"url":"http://a/mcp"}] []`:            "nothing behind",
		`[{"url":"http://a/mcp"},{}]`:            "[1]: one of url and address",
		`[{"url":"http://a/mcp","address":"a"}]`: "one of url and address",
		`[{"adress":"a:1"}]`:                     `unknown field "adress"`,
		`[{"address":"a"}]`:                      "host:port",
		`[{"address":":1"}]`:                     "must have a host",
		`[{"address":"a:0"}]`:                    "port",
		`[{"address":"a:70000"}]`:                "port",
		`[{"address":"a:http"}]`:                 "port",
		`[{"address":"u@a:1"}]`:                  "must have a host",
		`[{"url":"http://a:70000/mcp"}]`:         "port",
		`[{"url":"http://a/mcp"},{"name":"b","address":"a:80"}]`:                    "[1]: the URL is that of [0]",
		`[{"url":"http://[::1]:1/mcp"},{"name":"b","url":"http://[0:0::1]:1/mcp"}]`: "[1]: the URL is that of [0]",
		`[{"url":"ftp://a"}]`:                                                "http or https",
		`[{"url":"sse+http://a/sse"}]`:                                       "http or https",
		`[{"url":"http://u:secret@a/mcp"}]`:                                  "must not contain a user",
		`[{"url":"http://a/mcp?x=secret"}]`:                                  "must not contain",
		`[{"address":"a:1","weight":0}]`:                                     "weight must be from 1",
		`[{"address":"a:1","weight":-1}]`:                                    "weight must be from 1",
		`[{"address":"a:1","weight":257}]`:                                   "weight must be from 1",
		`[{"address":"a:1","era":"old"}]`:                                    "era must be",
		`[{"address":"a:1","name":"a b"}]`:                                   "visible ASCII",
		`[{"address":"a:1"},{"address":"A:1"}]`:                              `[1]: "a:1" is the name of [0]`,
		`[{"address":"a:1","name":"x"},{"name":"y","url":"http://a:1/mcp"}]`: "[1]: the URL is that of [0]",
	} {
		_, err := discover.Parse([]byte(text), template)
		if err == nil || !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %v, want an error with %q", text, err, words)
		}
	}
}

// FuzzParse holds lists to what the rest goes by.
func FuzzParse(f *testing.F) {
	f.Add(`[{"name":"b","url":"https://b.example/mcp","weight":3,"backup":true},{"address":"[::1]:7101","drain":true,"era":"legacy"}]`)
	f.Add(`[{"address":"a:1"},{"address":"a:1"}]`)
	f.Fuzz(func(t *testing.T, text string) {
		list, err := discover.Parse([]byte(text), template)
		if err != nil {
			return
		}
		names := map[string]bool{}
		for _, i := range list {
			if i.Name == "" || names[i.Name] || i.URL == nil || i.URL.Host == "" {
				t.Errorf("got %+v from %q", i, text)
			}
			names[i.Name] = true
		}
	})
}

// A path is written as in a URL, and means the same.
func TestAPathIsAsInAURL(t *testing.T) {
	for _, path := range []string{"/mcp", "/", "/a%2Fb", "/a%20b", "//a", "/a;b", "/a:b"} {
		whole := "http://10.0.0.1:80" + path
		want, err := url.Parse(whole)
		if err != nil {
			t.Fatal(err)
		}
		if got := (discover.URLTemplate{Scheme: "http", Path: path}).At("10.0.0.1:80"); *got != *want {
			t.Errorf("%s: got %#v, want %#v", path, got, want)
		}
	}
}
