package mcp

import (
	"strings"
	"testing"
)

// What is checked is what would be refused when it is made.
func TestRoundFitsWhereABodyIsMade(t *testing.T) {
	for _, body := range []string{
		`{"id":1,"params":{"name":"x"}}`, `{"id":1,"params":[]}`, `{"id":1,"params":{"_meta":"x"}}`, `{"id":1,"params":{"a":1,"a":2}}`,
		`{"id":1,"params":{},"Params":{}}`, `{"id":1`, `[]`, `{"params":{` + strings.Repeat(`"a":1,`, 600) + `"b":1}}`,
	} {
		for _, r := range []Round{{}, {ProgressToken: "p"}, {WithoutTask: true, Answered: true}} {
			_, err := r.Body([]byte(body))
			if got := r.Fits([]byte(body)); (got == nil) != (err == nil) || err != nil && got.Error() != err.Error() {
				t.Errorf("%.60s: %+v fits: %v; its body: %v", body, r, got, err)
			}
		}
	}
}
