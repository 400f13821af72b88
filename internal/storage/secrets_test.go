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
		"redis://:" + canary + "@h1,h2",
		"redis://:" + canary + "@::1:6379",
		"unix://:" + canary + "@host/socket",
		"unix://",
		"redis+sentinel:" + canary,
		"redis+sentinel://",
		"redis+sentinel:///master",
		"redis+sentinel://h",
		"redis+sentinel://h/",
		"redis+sentinel://:" + canary + "@h1,h2",
		"redis+sentinel://:" + canary + "@h1,,h2/master",
		"redis+sentinel://:" + canary + "@h1,h2:0/master",
		"redis+sentinel://:" + canary + "@h1:x,h2/master",
		"redis+sentinel://h1,:" + canary + "@h2:1:2/master",
		"redis+sentinel://:" + canary + "@h1,:" + canary + "@h2/master",
		"redis+sentinel://:" + canary + "@::1,h2/master",
		"redis+sentinel://:12/" + canary + "@h/master",
		"redis+sentinel://:12#" + canary + "@h/master",
		"redis+sentinel://h/master/zero" + canary,
		"redis+sentinel://h/master/-1",
		"redis+sentinel://h/master/0/" + canary,
		"redis+sentinel://h/master?sentinel_user=" + canary,
		"redis+sentinel://h/master?max_retries=3&sentinel_password=" + canary,
		"redis+sentinel://h/master?skip_verify=true&sentinel_password=" + canary + "#",
		"redis+cluster://",
		"redis+cluster://:" + canary + "@h1,h2/1",
		"redis+cluster://:" + canary + "@h1,h2/master",
		"redis+cluster://u:" + canary + "@h1:1,u:" + canary + "@h2:1",
		"redis+cluster://h1,h2?db=1",
		"redis+cluster://h1,h2?addr=" + canary,
		"redis+cluster://h1,[::1/" + canary,
		"redis+cluster://h1?h2," + canary,
		"unix+cluster://h1",
		"redis+other://:" + canary + "@h1",
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

		"redis+sentinel://h/m":                                    "redis+sentinel://h:26379/m",
		"redis+sentinel://h1:1,h2/m/0":                            "redis+sentinel://h1:1,h2:26379/m/0",
		"rediss+sentinel://u:pw@h1,[::1]:2/m?db=3":                "rediss+sentinel://u:xxxxx@h1:26379,[::1]:2/m",
		"redis+sentinel://:p%2Fw,%40@h1,h2/m?sentinel_password=x": "redis+sentinel://:xxxxx@h1:26379,h2:26379/m",
		"redis+sentinel://token@h1/m?client_name=me&pool_size=3":  "redis+sentinel://xxxxx@h1:26379/m",
		"redis+cluster://h1,h2:7000":                              "redis+cluster://h1:6379,h2:7000",
		"rediss+cluster://u:a,b@h1/?skip_verify=true":             "rediss+cluster://u:xxxxx@h1:6379/",
		"redis+cluster://u:pw@[::1],10.0.0.1/0":                   "redis+cluster://u:xxxxx@[::1]:6379,10.0.0.1:6379/0",
	} {
		if got := open(t, url, storage.Options{}).String(); got != want {
			t.Errorf("String of %q: got %q, want %q", url, got, want)
		}
	}
}
