package admin

import "testing"

func TestAnAddressThatNobodyCanHaveIsTold(t *testing.T) {
	for _, address := range []string{"127.0.0.1:9901", ":9901", "[::1]:9901", "host", "unix:/run/berth", "https://host:1/", "http://host"} {
		if err := CheckAddress(address); err != nil {
			t.Errorf("%q: %v", address, err)
		}
	}
	for _, address := range []string{"", "::::", "http://", "http://a b", "ftp://host", "host:port"} {
		if CheckAddress(address) == nil {
			t.Errorf("%q is taken", address)
		}
	}
}
