package adminapi

import (
	"net/url"
	"testing"

	"berth/routing"
)

// What has left is there for as long as a list names it.
func TestWhatAListNamesIsThere(t *testing.T) {
	pools := []*routing.Pool{routing.NewPool(routing.PoolOptions{Name: "p", Upstreams: []*routing.Upstream{{Name: "a", URL: &url.URL{Scheme: "http", Host: "a"}}}})}
	told := []place{{"p", "left"}, {"gone", "x"}}
	for named, want := range map[place]string{
		{}: "", {"p", ""}: "", {"", "a"}: "", {"p", "a"}: "", {"p", "left"}: "", {"", "left"}: "", {"gone", ""}: "", {"gone", "x"}: "",
		{"q", ""}:     "there is no pool q; there are p",
		{"q", "a"}:    "there is no pool q; there are p",
		{"p", "x"}:    "there is no upstream p/x; in pool p there are a",
		{"", "b"}:     "there is no upstream b; there are a",
		{"gone", "a"}: "there is no pool gone; there are p",
	} {
		got := ""
		if err := checkNamed(pools, named, told, func(at place) place { return at }); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%v: got %q, want %q", named, got, want)
		}
	}
}
