package redis

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestURLsOfSeveralServers(t *testing.T) {
	sentinel, err := ParseSentinelURL("rediss+sentinel://user:p%40ss@h1,h2:7/set/3?sentinel_user=watch&sentinel_password=s%2Fent&client_name=me&pool_size=4")
	if err != nil {
		t.Fatal(err)
	}
	o := sentinel.options
	if o.MasterName != "set" || o.IsClusterMode || o.DB != 3 || o.ClientName != "me" || o.PoolSize != 4 {
		t.Errorf("got %+v", o)
	}
	if o.Username != "user" || o.Password != "p@ss" || o.SentinelUsername != "watch" || o.SentinelPassword != "s/ent" {
		t.Error("the credentials are not those of the URL")
	}
	if want := []string{"h1:26379", "h2:7"}; !slices.Equal(o.Addrs, want) {
		t.Errorf("addresses: got %q, want %q", o.Addrs, want)
	}
	if got := sentinel.scrub("AUTH p@ss, AUTH s/ent"); got != "AUTH xxxxx, AUTH xxxxx" {
		t.Errorf("scrub: got %q, want neither password", got)
	}

	cluster, err := ParseClusterURL("rediss+cluster://h1:1,[::1]?skip_verify=true")
	if err != nil {
		t.Fatal(err)
	}
	o = cluster.options
	if want := []string{"h1:1", "[::1]:6379"}; !slices.Equal(o.Addrs, want) || !o.IsClusterMode || o.MasterName != "" {
		t.Errorf("got %q, cluster %v, master %q", o.Addrs, o.IsClusterMode, o.MasterName)
	}
	if !o.TLSConfig.InsecureSkipVerify {
		t.Error("skip_verify: got false, want true")
	}
}

// With several servers no name in the URL is that of each: the one that a server is
// reached under is verified.
func TestEachOfSeveralServersIsVerifiedByItsOwnName(t *testing.T) {
	for url, want := range map[string]string{
		"rediss://h1":               "h1",
		"rediss+sentinel://h1,h2/m": "",
		"rediss+cluster://h1,h2":    "",
	} {
		parsed, err := parsedURL(url)
		if err != nil {
			t.Fatal(err)
		}
		o := boundedOptions(*parsed.options, Options{Timeout: time.Second})
		if o.TLSConfig.ServerName != want {
			t.Errorf("%s: got the name %q, want %q", url, o.TLSConfig.ServerName, want)
		}
	}
}

// parsedURL is what the function for the URL's scheme makes of it.
func parsedURL(url string) (*Servers, error) {
	scheme, _, _ := strings.Cut(url, "://")
	switch scheme {
	case "rediss+sentinel":
		return ParseSentinelURL(url)
	case "rediss+cluster":
		return ParseClusterURL(url)
	}
	return ParseURL(url)
}
