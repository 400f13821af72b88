package proxy_test

import (
	"net/http"
	"testing"
	"testing/synctest"
)

// A session whose client ends it by another berth while it is opened anew is left open nowhere.
func TestASessionThatEndsWhileItMovesIsLeftNowhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, reinit(rigOptions{}))
		session := f.initialize()
		f.lose(f.servers[0])
		b := f.servers[1]
		b.inject(onMethod("initialize", func(http.ResponseWriter, *http.Request, []byte) bool {
			f.bindings.Unbind(t.Context(), f.router.SessionKey("", session))
			return false
		}))
		r := f.in(session, http.MethodPost, message("tools/list", ""))
		synctest.Wait()
		if opened := f.calls("initialize") - 1; r.status == http.StatusOK || opened != 1 || len(b.Sessions()) != 0 {
			t.Errorf("got %d %s; %d were opened, %v are left", r.status, r.body, opened, b.Sessions())
		}
		for _, name := range []string{"a", "b"} {
			if owned, err := f.bindings.Owned(t.Context(), "p", name); err != nil || owned.Sessions != 0 {
				t.Errorf("%s owns %+v, %v", name, owned, err)
			}
		}
	})
}
