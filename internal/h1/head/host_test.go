package head

import "testing"

// A port is a number up to 65535, or none is said.
func TestAHostHasAPortOrNone(t *testing.T) {
	for host, want := range map[string]bool{
		"": true, "b.example": true, "b.example:": true, "b.example:80": true, "b.example:65535": true, "b.example:0080": true,
		"[::1]": true, "[::1]:": true, "[::1]:80": true, "127.0.0.1:7000": true,
		"b.example:evil": false, "b.example:80;x=1": false, "b.example:80'": false, "b.example:-1": false, "b.example:+1": false, "b.example:99999": false, "b.example:65536": false,
		"b.example:0x50": false, "b.example:8_0": false, "[::1]b.example": false, "[::1]:x": false, "[::1": false,
	} {
		if got := IsHost(host); got != want {
			t.Errorf("%q: got %v, want %v", host, got, want)
		}
	}
	if n := testing.AllocsPerRun(100, func() { IsHost("b.example:8080") }); n > 0 {
		t.Errorf("it allocates %v times", n)
	}
}
