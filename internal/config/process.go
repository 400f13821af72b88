package config

import (
	"strings"

	"golang.org/x/net/http/httpguts"
)

// stdioFlag begins a command where a URL is expected: "stdio:npx -y some-server".
const stdioFlag = "stdio:"

// ParseUpstream reads a URL, or a command behind "stdio:", whose words blanks part.
func ParseUpstream(text string) Upstream {
	u := DefaultUpstream()
	if command, ok := strings.CutPrefix(text, stdioFlag); ok {
		u.Command = strings.Fields(command)
	} else {
		u.URL = text
	}
	return u
}

// DefaultUpstream returns the instance that a [[pools.upstreams]] table without keys makes.
func DefaultUpstream() Upstream { return defaultOf[Upstream]() }

func (v *validator) process(key string, u Upstream) {
	v.faultIf(len(u.Command) == 0 && u.Replicas > 1, key+".replicas", "needs command: berth runs as many of it")
	if len(u.Command) == 0 {
		return
	}
	v.faultIf(u.URL != "", key+".url", "must not be set together with command")
	v.faultIf(u.Name == "", key+".name", "is missing: command needs one")
	v.faultIf(u.Command[0] == "", key+".command", "must begin with a program")
	v.faultIf(u.Replicas == 0, key+".replicas", "must be at least 1: it is as many instances")
	v.faultIf(u.MaxProcesses == 0, key+".max_processes", "must be at least 1: nothing could be run")
	if u.Isolation != "" {
		v.oneOf(key+".isolation", u.Isolation, "all", "principal", "session", "call")
	}
	v.faultIf(u.Era == EraModern, key+".era", "must be auto or legacy: berth speaks the legacy era by stdio")
	for name := range u.Env {
		v.faultIf(!isEnv(name), key+".env", "must name variables, got %s", quote(name))
	}
	for i, name := range u.EnvAllow {
		v.faultIf(!isEnv(name), elementKey(key+".env_allow", i), "must be the name of a variable, got %s", quote(name))
	}
}

// isEnv reports whether a name is fit for an environment variable.
func isEnv(name string) bool { return httpguts.ValidHeaderFieldName(name) }
