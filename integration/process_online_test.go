package integration

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/certs/certstest"
	"berth/internal/identity/issuertest"
	"berth/internal/storage/redistest"
)

// checkedOnline checks a configuration of one pool and what settings says, and fails the
// test unless it ends so: with 1 and a line for each of broken, in this order, with a
// line for each of doubtful.
func checkedOnline(t *testing.T, settings string, upstreams fleet, broken, doubtful []string) {
	t.Helper()
	text := new(strings.Builder)
	fmt.Fprintf(text, "%s\n[[pools]]\n", settings)
	for _, u := range upstreams {
		fmt.Fprintf(text, "[[pools.upstreams]]\nname = %q\nurl = %q\n", u.name, u.url())
	}
	file, late := configFile(t, text.String()), "no answer within"
	got := runBerth(t, "check", "--online", file)
	for again := 0; again < 3 && strings.Contains(got.stderr, late) && !strings.Contains(strings.Join(broken, ""), late); again++ {
		got = runBerth(t, "check", "--online", file) // a machine may be so busy that servers take longer than it waits
	}
	if want := min(len(broken), 1); got.code != want {
		t.Errorf("exit code: got %d, want %d", got.code, want)
	}
	wantLines(t, got.stderr, broken)
	if len(broken) == 0 {
		doubtful = append(doubtful, "ok, 1 pools")
	}
	wantLines(t, got.stdout, doubtful)
	if all := got.stdout + got.stderr; strings.Contains(all, onlineSecret) {
		t.Errorf("a secret is told:\n%s", all)
	}
}

// wantLines fails the test unless text has as many lines as want, each with all the
// words of one of want, which a | parts.
func wantLines(t *testing.T, text string, want []string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if text == "" {
		lines = nil
	}
	if len(lines) != len(want) {
		t.Errorf("got\n%s\nwant %d lines: %q", text, len(want), want)
		return
	}
	for i, line := range lines {
		for part := range strings.SplitSeq(want[i], "|") {
			if !strings.Contains(line, part) {
				t.Errorf("got %q, want %q in it", line, part)
			}
		}
	}
}

const onlineSecret = "canary-of-the-check"

func storeAt(url string) string { return fmt.Sprintf("[store]\nurl = %q\n", url) }

// Row D13, and what else may be wrong with a Redis.
func TestOnlineCheckOfTheStore(t *testing.T) {
	t.Parallel()
	fleet := startLocalFleet(t, nil)
	server := redistest.Start(t, "--requirepass", onlineSecret)
	right := "redis://:" + onlineSecret + "@" + server.Addr
	checkedOnline(t, storeAt(right), fleet.fleet, nil, nil)
	checkedOnline(t, storeAt("redis://:"+onlineSecret+"x@"+server.Addr), fleet.fleet, []string{"store.url: |WRONGPASS"}, nil)
	checkedOnline(t, storeAt(right)+"durability = \"replicas:1\"\n", fleet.fleet, []string{"store.url: |followed by 0 replicas"}, nil)
	server.Kill()
	checkedOnline(t, storeAt(right), fleet.fleet, []string{"store.url: |connection refused"}, nil)

	evicting := redistest.Start(t, "--maxmemory-policy", "allkeys-lru")
	checkedOnline(t, storeAt(evicting.URL()), fleet.fleet, []string{"store.url: |allkeys-lru"}, nil)
}

// A file that a berth serves from is said to be in use, and that berth does not notice.
func TestOnlineCheckOfAFileInUse(t *testing.T) {
	t.Parallel()
	fleet := startLocalFleet(t, nil)
	url := "file:" + filepath.Join(t.TempDir(), "berth.db")
	checkedOnline(t, storeAt(url), fleet.fleet, nil, nil)
	b := startWatched(t, fleet.fleet, "--store", url)
	client := newModernClient(t)
	id := client.create(t, b.url(), 600).TaskID
	checkedOnline(t, storeAt(url), fleet.fleet, nil, []string{"store.url: warning: |another process holds this file"})
	client.get(t, b.url(), id)
	client.create(t, b.url(), 600)
}

// everything is a configuration that leaves little out. Its files lie in directory.
func everything(storeURL, directory, keySet string) string {
	return storeAt(storeURL) + strings.NewReplacer("DIR", directory, "KEYS", keySet, "ISSUER", issuertest.Name).Replace(`
seal_key_file = "DIR/seal"
[admin]
listen = "127.0.0.1:9090"
token_file = "DIR/token"
[tls]
cert = "DIR/cert.pem"
key = "DIR/key.pem"
[auth]
principal = "jwt"
[auth.jwt]
issuer = "ISSUER"
jwks = "KEYS"
resource = "https://berth.test"
`)
}

// Everything is told at once, each under its key.
func TestOnlineCheckTellsAllAtOnce(t *testing.T) {
	t.Parallel()
	fleet := startLocalFleet(t, nil)
	dead := &instance{process: &process{name: "dead"}, base: "http://" + freeAddress(t)}
	directory := t.TempDir()
	write := func(name, content string) { certstest.Write(t, filepath.Join(directory, name), []byte(content)) }
	root := certstest.New(t)
	one, other := root.Server("one"), root.Server("other")
	write("cert.pem", string(one.Cert))
	write("key.pem", string(other.Key))
	write("token", onlineSecret+" with blanks")
	issuer := issuertest.New(t)
	issuer.Answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	away := "redis://:" + onlineSecret + "@" + freeAddress(t)
	checkedOnline(t, everything(away, directory, issuer.URL), append(fleet.fleet[:1:1], dead), []string{
		"store.url: |connection refused",
		"auth.jwt.jwks: |502",
		"pools[0].upstreams[1].url: dead |connection refused",
		"store.seal_key_file: |no such file",
		"admin.token_file: |visible ASCII",
		"tls: |private key does not match",
	}, nil)

	write("key.pem", string(one.Key))
	write("token", onlineSecret)
	write("seal", strings.Repeat("A", 64))
	issuer.Answer(nil)
	checkedOnline(t, everything(redistest.Start(t).URL(), directory, issuer.URL), fleet.fleet, nil, nil)
}
