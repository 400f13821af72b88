package config

import (
	"strings"
	"testing"
)

const oneUpstream = "[[pools]]\n[[pools.upstreams]]\nurl = \"http://a/mcp\"\n"

func TestVariablesStandInStrings(t *testing.T) {
	t.Setenv("BERTH_TEST_HOST", "10.0.0.7")
	t.Setenv("BERTH_TEST_EMPTY", "")
	for text, want := range map[string]string{
		"${BERTH_TEST_HOST}":               "10.0.0.7",
		"a ${BERTH_TEST_HOST}:7101 b":      "a 10.0.0.7:7101 b",
		"${BERTH_TEST_NONE:-x}":            "x",
		"${BERTH_TEST_NONE:-}":             "",
		"${BERTH_TEST_EMPTY:-x}":           "x",
		"${BERTH_TEST_EMPTY}":              "",
		"${BERTH_TEST_HOST:-x}":            "10.0.0.7",
		"$${BERTH_TEST_HOST}":              "${BERTH_TEST_HOST}",
		"$BERTH_TEST_HOST $ {x} $$":        "$BERTH_TEST_HOST $ {x} $$",
		"$${a${BERTH_TEST_HOST}":           "${a10.0.0.7",
		"${BERTH_TEST_NONE:-http://a/b?c}": "http://a/b?c",
	} {
		cfg, err := Parse("f", []byte(oneUpstream+"name = '"+text+"x'\ncommand = []\nenv = { A = '"+text+"' }\ncwd = '"+text+"'\n"))
		if err != nil && !strings.Contains(err.Error(), ".name:") { // not every text is fit for a name
			t.Errorf("%s: %v", text, err)
		} else if err == nil && (cfg.Pools[0].Upstreams[0].Cwd != want || cfg.Pools[0].Upstreams[0].Env["A"] != want) {
			t.Errorf("%s: got %q, want %q", text, cfg.Pools[0].Upstreams[0].Cwd, want)
		}
	}
}

// They stand wherever strings do: lists, tables of words, rates and durations.
func TestVariablesStandInEveryKindOfString(t *testing.T) {
	t.Setenv("BERTH_TEST_A", "5s")
	cfg, err := Parse("f", []byte("drain = \"${BERTH_TEST_A}\"\ntrusted_proxies = [\"${BERTH_TEST_P:-::1}\"]\n"+oneUpstream))
	if err != nil || cfg.Drain.String() != "5s" || len(cfg.TrustedProxies) != 1 {
		t.Errorf("got %v, %v, %v", cfg.Drain, cfg.TrustedProxies, err)
	}
}

func TestVariableThatIsNotSetIsAFault(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"drain = \"1s\"\nlisten = \"${BERTH_TEST_NONE}\"\n", "f:2: listen: names the environment variable BERTH_TEST_NONE, which is not set"},
		{"[store]\n\nurl = \"redis://:${BERTH_TEST_NONE}@h\"\n", "f:3: store.url: names the environment variable BERTH_TEST_NONE, which is not set"},
		{"listen = \"${BERTH_TEST\"\n", `f:1: listen: must close what "${" begins, as in ${NAME} or ${NAME:-default}; "$${" stands for itself`},
		{"trusted_proxies = [\"::1\",\n\"${BERTH TEST}\"]\n", `f:2: trusted_proxies[1]: must close what "${" begins`},
	} {
		_, err := Parse("f", []byte(c.text+oneUpstream))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s\ngot  %v\nwant %s alone", c.text, err, c.want)
		}
	}
}

// What a variable holds is most likely a secret, wherever it is used.
func TestNoFaultRepeatsAVariable(t *testing.T) {
	t.Setenv("BERTH_TEST_SECRET", canary)
	t.Setenv("BERTH_TEST_SHORT", "q")
	for _, text := range []string{
		"listen = \"${BERTH_TEST_SECRET}\"\n",
		"drain = \"${BERTH_TEST_SECRET}\"\n",
		"trusted_proxies = [\"${BERTH_TEST_SECRET}\"]\n",
		"[log]\nlevel = \"x${BERTH_TEST_SECRET}\"\n",
		"[store]\nurl = \"${BERTH_TEST_SECRET}\"\n",
		"[store]\ndurability = \"${BERTH_TEST_SECRET}\"\n",
		"[limits]\nbody = \"${BERTH_TEST_SECRET}\"\n",
		"[auth]\nprincipal = \"header:${BERTH_TEST_SECRET} \"\n",
		"[auth]\ncredential_headers = [\"a\", \"a\", \"${BERTH_TEST_SECRET} \"]\n",
		oneUpstream + "name = \"${BERTH_TEST_SECRET}\"\n[[pools.upstreams]]\nname = \"${BERTH_TEST_SECRET}\"\n",
		oneUpstream + "affinity = [\"header:${BERTH_TEST_SECRET}\", \"header:${BERTH_TEST_SECRET}\"]\n",
		"[[pools]]\naffinity = [\"header:${BERTH_TEST_SECRET}\", \"header:${BERTH_TEST_SECRET}\"]\n",
		"[admin]\nlisten = \"${BERTH_TEST_SHORT}\"\n",
	} {
		_, err := Parse("f", []byte(text))
		if err == nil || strings.Contains(strings.ToLower(err.Error()), strings.ToLower(canary)) || strings.Contains(err.Error(), `"q"`) {
			t.Errorf("%s\ngot %v, want a fault that does not repeat the variable", text, err)
		}
	}
}
