package admin

import "testing"

func TestAnAddressThatNobodyCanHaveIsTold(t *testing.T) {
	for _, address := range []string{"127.0.0.1:9901", ":9901", "[::1]:9901", "unix:/run/berth", "https://host:1/", "http://host", "http://[::1]", "host:65535"} {
		if err := CheckAddress(address); err != nil {
			t.Errorf("%q: %v", address, err)
		}
	}
	for _, address := range []string{"", "::::", "http://", "http://a b", "ftp://host", "host:port", "host", "127.0.0.1", "::1", "[::1]", "host:", "host:0", "localhost:99999", "https://host:99999"} {
		if CheckAddress(address) == nil {
			t.Errorf("%q is taken", address)
		}
	}
}
