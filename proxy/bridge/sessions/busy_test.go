package sessions

import (
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/wire"
	"berth/proxy/session"
)

func TestRetryAfterIsSecondsOrADate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		date := time.Now().UTC().Add(time.Minute).Format("Mon, 02 Jan 2006 15:04:05 GMT")
		for said, want := range map[string]time.Duration{"": 0, "3": 3 * time.Second, "-3": 0, "soon": 0, date: time.Minute, "Sat, 01 Jan 2000 00:00:00 GMT": 0} {
			if got := retryAfter(wire.NewHeader("Retry-After", said)); got != want {
				t.Errorf("%q: got %v", said, got)
			}
		}
	})
}

// What refuses a session is told by the code that the server means, however it spells that.
func TestARefusalIsToldByTheCodeThatItMeans(t *testing.T) {
	refusal := &session.Refusal{Status: 400, Header: new(wire.Header), Code: -32602, Object: []byte(`{"code":-32602.0,"message":"no","data":{"a":1}}`)}
	if got := asWorded(refusal); got.Code != -32602 || got.Message != "no" || got.Data == nil {
		t.Errorf("got %+v", got)
	}
}
