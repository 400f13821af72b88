package adminapi

import (
	"context"
	"net/http"
	"strconv"

	"berth/internal/admin"
	"berth/internal/api"
	"berth/internal/trouble"
)

// troubles tell what is behind the five numbers.
type troubles struct{ book *trouble.Book }

func (t *troubles) routes() []admin.Route {
	return []admin.Route{{Pattern: "GET /v1/troubles/{kind}", Serve: t.serveTroubles}}
}

func (t *troubles) serveTroubles(_ context.Context, r *http.Request) (any, error) {
	kind := r.PathValue("kind")
	noted, known := t.book.Events(trouble.Kind(kind))
	if !known {
		return nil, admin.NotFound("no kind of trouble is called " + strconv.Quote(kind))
	}
	told := api.Events{Events: []api.Event{}}
	for _, e := range noted {
		told.Events = append(told.Events, api.Event{At: e.At.UTC(), Pool: e.Pool, ID: e.ID, What: e.What, Caller: e.Caller, Detail: e.Detail})
	}
	return told, nil
}

// TroublesOf are the five numbers of this berth.
func TroublesOf(book *trouble.Book) []api.Trouble {
	told := []api.Trouble{}
	for _, n := range book.Numbers() {
		t := api.Trouble{Kind: string(n.Kind), Count: n.Count, Recent: n.Recent}
		if !n.Last.IsZero() {
			t.Last = n.Last.UTC()
		}
		told = append(told, t)
	}
	return told
}
