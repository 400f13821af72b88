package storage_test

import (
	"errors"
	"strings"
	"testing"

	"berth/internal/realtest"
	"berth/internal/storage"
	"berth/internal/storage/redistest"
)

const canary = "canary-s3cret"

func withPassword(server *redistest.Server, password string) string {
	return "redis://:" + password + "@" + server.Addr + "/0"
}

// D18: a wrong password is an outage that ends when the password is right, and is
// nowhere to be read.
func TestWrongPasswordIsUnavailableAndUnspoken(t *testing.T) {
	server := redistest.Start(t, "--requirepass", "another")
	var log realtest.Journal
	s := open(t, withPassword(server, canary), storage.Options{Logger: logger(&log)})
	run(t, s)
	_, err := s.Get(t.Context(), "k")
	unavailable(t, err, "auth")
	realtest.Eventually(t, "logged", func() bool { return log.Count("store lost") == 1 })
	silent(t, s, &log, err)

	server.Restart("--requirepass", canary)
	realtest.Eventually(t, "healthy", s.Healthy)
	put(t, s, "k", "v")
	silent(t, s, &log, nil)
}

func TestMissingPasswordIsUnavailable(t *testing.T) {
	server := redistest.Start(t, "--requirepass", "another")
	s := open(t, server.URL(), storage.Options{})
	_, err := s.Get(t.Context(), "k")
	unavailable(t, err, "auth")
	if s.Healthy() {
		t.Error("Healthy: got true, want false")
	}
}

// Redis quotes the arguments of commands that it does not know. Where an operator
// renamed AUTH and HELLO, those arguments are the password.
func TestRenamedAuthLeaksNoPassword(t *testing.T) {
	server := redistest.Start(t, "--requirepass", canary, "--rename-command", "AUTH", "A", "--rename-command", "HELLO", "H")
	if answer := server.Do("AUTH", canary); !strings.Contains(answer, canary) {
		t.Skipf("this redis-server does not quote arguments: %s", answer)
	}
	for _, password := range []string{canary, strings.Repeat(canary, 20)} {
		var log realtest.Journal
		s := open(t, withPassword(server, password), storage.Options{Logger: logger(&log)})
		err := s.Ping(t.Context())
		unavailable(t, err, "other")
		silent(t, s, &log, err)
		if log.Count("store lost") != 1 {
			t.Errorf("log: got %q, want the outage", log.String())
		}
	}
}

// silent fails the test if the canary is anywhere an operator or a client may look.
func silent(t *testing.T, s *storage.Store, log *realtest.Journal, err error) {
	t.Helper()
	texts := map[string]string{"String": s.String(), "log": log.String(), "LastError": s.Health().LastError}
	for cause := err; cause != nil; cause = errors.Unwrap(cause) {
		texts["error"] += cause.Error() + "\n"
	}
	for where, text := range texts {
		if strings.Contains(text, canary) {
			t.Errorf("%s tells the password: %s", where, text)
		}
	}
}

func TestBadURLsAreErrorsWithoutSecrets(t *testing.T) {
	for _, url := range []string{
		"",
		"memory",
		"memory:x",
		"memory://",
		"etcd://:" + canary + "@localhost",
		canary + "@localhost:6379",
		"redis:" + canary,
		"redis://",
		"redis://:" + canary + "@",
		"redis://:" + canary + "/x@localhost/0",
		"redis://:12/" + canary + "@localhost/0",
		"redis://:12#" + canary + "@localhost/0",
		"redis://h:12?" + canary + "@localhost/0",
		"redis://:%zz" + canary + "@localhost/0",
		"redis://:" + canary + "@localhost/zero",
		"redis://:" + canary + "@localhost/-1",
		"redis://:" + canary + "@localhost:port/0",
		"redis://:" + canary + "@localhost/0?read_timeout=1h",
		"redis://localhost/0?max_retries=3&x=" + canary,
		"unix://:" + canary + "@host/socket",
		"unix://",
	} {
		s, err := storage.Open(url, storage.Options{})
		if err == nil {
			t.Errorf("Open(%q): got %v, want an error", url, s)
			continue
		}
		if strings.Contains(err.Error(), canary) || !strings.HasPrefix(err.Error(), "storage: ") {
			t.Errorf("Open(%q): got %q", url, err)
		}
	}
}

func TestStringMasksThePassword(t *testing.T) {
	for url, want := range map[string]string{
		"memory:":                         "memory:",
		"redis://localhost:6379/0":        "redis://localhost:6379/0",
		"redis://:p%40ss@localhost/2":     "redis://:xxxxx@localhost/2",
		"rediss://user:pw@h:1/0":          "rediss://user:xxxxx@h:1/0",
		"redis://token@h:1/0":             "redis://xxxxx@h:1/0",
		"redis://h:1/0?client_name=me":    "redis://h:1/0",
		"unix://u:pw@/run/redis?db=1":     "unix://u:xxxxx@/run/redis",
		"redis://u:pw@[::1]:6379/0":       "redis://u:xxxxx@[::1]:6379/0",
		"rediss://h:1/0?skip_verify=true": "rediss://h:1/0",
	} {
		if got := open(t, url, storage.Options{}).String(); got != want {
			t.Errorf("String of %q: got %q, want %q", url, got, want)
		}
	}
}
