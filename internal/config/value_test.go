package config

import (
	"slices"
	"testing"
	"time"
)

func TestSizeReadsWhatItWrites(t *testing.T) {
	for text, want := range map[string]Size{
		"0": 0, "0B": 0, "1": 1, "512B": 512, "64KiB": 64 << 10, "4MiB": 4 << 20, "1 GiB": 1 << 30, "8589934591GiB": 8589934591 << 30,
	} {
		var got, again Size
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%q: got %d, %v, want %d", text, got, err, want)
		}
		if err := again.UnmarshalText([]byte(got.String())); err != nil || again != want {
			t.Errorf("%q: read back from %q: got %d, %v, want %d", text, got, again, err, want)
		}
	}
}

func TestSizeRefuses(t *testing.T) {
	for _, text := range []string{"", "B", "-1", "4MB", "4kib", "1.5MiB", "8589934592GiB", "9223372036854775808", "1e3"} {
		var got Size
		if err := got.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q: got %d, want an error", text, got)
		}
	}
}

func TestDurationReadsWhatItWrites(t *testing.T) {
	for text, want := range map[string]string{
		"0s": "0s", "30s": "30s", "180s": "3m", "5m": "5m", "168h": "168h", "1h30m": "1h30m", "90m10s": "1h30m10s", "500ms": "500ms", "10m": "10m", "10h10m": "10h10m",
	} {
		var got, again Duration
		if err := got.UnmarshalText([]byte(text)); err != nil || got.String() != want {
			t.Errorf("%q: got %v, %v, want %s", text, got, err, want)
		}
		if err := again.UnmarshalText([]byte(got.String())); err != nil || again != got {
			t.Errorf("%q: read back: got %v, %v, want %v", text, time.Duration(again), err, time.Duration(got))
		}
	}
}

func TestDurationRefuses(t *testing.T) {
	for _, text := range []string{"", "30", "-1s", "soon", "7d"} {
		var got Duration
		if err := got.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}

func TestRateReadsWhatItWrites(t *testing.T) {
	for text, want := range map[string]Rate{
		"0/s": 0, "50/s": 50, "1/m": 1. / 60, "7/m": 7. / 60, "600/m": 10, "1000000/s": 1_000_000, " 5 / s ": 5,
	} {
		var got, again Rate
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%q: got %v, %v, want %v", text, float64(got), err, float64(want))
		}
		if err := again.UnmarshalText([]byte(got.String())); err != nil || again != got {
			t.Errorf("%q: read back from %q: got %v, %v, want %v", text, got, float64(again), err, float64(got))
		}
	}
}

func TestRateRefuses(t *testing.T) {
	for _, text := range []string{"", "50", "/s", "-1/s", "1.5/s", "5/h", "5/s/s", "1000001/s", "1e3/s", "Inf/s"} {
		var got Rate
		if err := got.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}

func TestPrefixReadsAddressesAndCIDRs(t *testing.T) {
	for text, want := range map[string]string{
		"10.0.0.0/8": "10.0.0.0/8", "10.1.2.3": "10.1.2.3/32", "::1": "::1/128", "fd00::/8": "fd00::/8", "::ffff:10.0.0.1": "10.0.0.1/32",
		"::ffff:10.0.0.0/104": "10.0.0.0/8",
	} {
		var got Prefix
		if err := got.UnmarshalText([]byte(text)); err != nil || got.String() != want {
			t.Errorf("%q: got %v, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "10.1.2.3/8", "10.0.0.0/33", "localhost", "fe80::1%eth0"} {
		var got Prefix
		if err := got.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}

// Browsers leave the scheme's own port out: an origin that named it passed the check, and
// let no page in.
func TestOriginsAreWhatBrowsersSend(t *testing.T) {
	pool := Pool{Origins: []string{
		"https://app.example:443", "http://app.example:80", "HTTPS://App.Example", "https://app.example:80", "http://[::1]:80", "vscode-webview://abc", "*",
		"http://[2001:DB8:0::5]:80", "https://[2001:DB8:0::5]:8443",
	}}
	want := []string{
		"https://app.example", "http://app.example", "https://app.example", "https://app.example:80", "http://[::1]", "vscode-webview://abc", "*",
		"http://[2001:db8::5]", "https://[2001:db8::5]:8443",
	}
	if got := pool.EffectiveOrigins(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Browsers write an IPv6 address in one way: a pool that was given it in another answered for nobody.
func TestHostsAreWhatBrowsersSend(t *testing.T) {
	pool := Pool{Hosts: []string{"Mcp.Example", "2001:DB8:0::5", "192.0.2.1"}}
	if got, want := pool.EffectiveHosts(), []string{"mcp.example", "2001:db8::5", "192.0.2.1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
