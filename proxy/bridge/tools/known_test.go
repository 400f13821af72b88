package tools

import (
	"fmt"
	"testing"

	"berth/internal/mcp/mirrored"
)

// A server whose tools have other names in each list is not known by all that it ever had.
func TestToolsThatAreGoneAreForgottenSomeTime(t *testing.T) {
	k := &Known{mirrors: map[string][]mirrored.Argument{}}
	for n := range 5 {
		list := []byte(`{"tools":[`)
		for i := range maxTools / 2 {
			list = fmt.Appendf(list, `{"name":"x-%d-%d","execution":{"taskSupport":"required"}},`, n, i)
		}
		k.Note("", fmt.Appendf(list, `{"name":"last"}]}`))
		if len(k.supports) > 3*maxTools/2+1 || k.Support(fmt.Sprintf("x-%d-0", n)) != "required" {
			t.Errorf("after list %d: %d tools", n, len(k.supports))
		}
	}
}
