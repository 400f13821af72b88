package admin

import (
	"context"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
)

// Each order is told of, with who gave it and how it was answered, whether it was heard or not; questions
// are not.
func TestOrdersAreToldOf(t *testing.T) {
	for by, o := range map[string]Options{
		byLoopback: {Listen: "127.0.0.1:0"}, byToken: {Listen: "127.0.0.1:0", Token: "secret"}, bySocket: {Listen: "unix:" + filepath.Join(t.TempDir(), "admin")},
	} {
		t.Run(by, func(t *testing.T) {
			tell := make(chan Order, 10)
			o.Ordered = func(order Order) { tell <- order }
			o.Routes = []Route{
				{Pattern: "GET /v1/things", Serve: func(context.Context, *http.Request) (any, error) { return 1, nil }},
				{Pattern: "POST /v1/things", Asks: true, Serve: func(context.Context, *http.Request) (any, error) { return 1, nil }},
				{Pattern: "POST /v1/things/{name}/drain", Serve: func(_ context.Context, r *http.Request) (any, error) {
					if r.PathValue("name") == "none" {
						return nil, NotFound("none")
					}
					return 1, nil
				}},
			}
			s, _ := run(t, o)
			address := s.Addr().String()
			if by == bySocket {
				address = "unix:" + address
			}
			client := NewClient(address, o.Token)
			_ = client.Call(t.Context(), http.MethodGet, "/v1/things", nil, nil)
			_ = client.Call(t.Context(), http.MethodPost, "/v1/things", struct{}{}, nil)
			_ = client.Call(t.Context(), http.MethodPost, "/v1/things/a/drain", struct{}{}, nil)
			_ = client.Call(t.Context(), http.MethodPost, "/v1/things/none/drain", struct{}{}, nil)
			want := []int{200, 404}
			if o.Token != "" {
				_ = NewClient(address, "guessed").Call(t.Context(), http.MethodPost, "/v1/things/a/drain", struct{}{}, nil)
				want = append(want, 401)
			}
			var got []int
			for range want {
				order := <-tell
				got = append(got, order.Status)
				if order.By != by || order.Method != http.MethodPost || order.At.IsZero() || (order.Client == "") != (by == bySocket) || order.Path == "/v1/things" {
					t.Errorf("got %+v", order)
				}
			}
			if !slices.Equal(got, want) || len(tell) > 0 {
				t.Errorf("got answers %v and %d more, want %v", got, len(tell), want)
			}
		})
	}
}
