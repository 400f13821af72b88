package webhook

import (
	"errors"
	"net/netip"
	"testing"
)

func TestMessagesGoToThePublicInternetAlone(t *testing.T) {
	for _, text := range []string{
		"127.0.0.1", "127.255.255.254", "::1", "0.0.0.0", "0.1.2.3", "::", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
		"169.254.169.254", "169.254.0.1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "100.64.0.1", "100.100.100.200", "100.127.255.255",
		"168.63.129.16", "224.0.0.1", "239.255.255.255", "ff02::1", "ff0e::1", "255.255.255.255", "240.0.0.1", "192.0.0.192", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "192.88.99.1",
		"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1",
		"2002:7f00:1::", "2002:a00:1::1", "2001::1", "2001:db8::1", "3fff::1", "100::1", "fec0::1", "4000::1", "2606:4700::1%eth0",
	} {
		if err := (Guard{}).Check(netip.MustParseAddr(text)); !errors.Is(err, ErrForbidden) {
			t.Errorf("%s: got %v", text, err)
		}
	}
	for _, text := range []string{
		"1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1", "192.0.1.1", "223.255.255.254",
		"2606:4700::1111", "2a00:1450::1", "::ffff:1.1.1.1", "64:ff9b::1.1.1.1", "2002:101:101::1",
	} {
		if err := (Guard{}).Check(netip.MustParseAddr(text)); err != nil {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

func TestWhatIsAllowedIsAllowedAndNothingElse(t *testing.T) {
	g := Guard{Allow: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("::1/128")}}
	for text, want := range map[string]bool{"10.1.2.3": true, "::ffff:10.1.2.3": true, "::1": true, "10.2.0.1": false, "127.0.0.1": false, "169.254.169.254": false, "1.1.1.1": true} {
		if got := g.Check(netip.MustParseAddr(text)) == nil; got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}
