package site

import (
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"testing"

	"berth/internal/config"
	"berth/internal/storage/storagetest"
)

// Operators are told of each bound of [limits], in the order of the table.
func TestEachLimitIsTold(t *testing.T) {
	cfg := config.Default()
	cfg.Pools = []config.Pool{config.DefaultPool()}
	s, err := New(t.Context(), Store{Store: storagetest.OpenMemory(t)}, cfg, Observers{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	s.Begin(false)
	var want, got []string
	table := reflect.ValueOf(cfg.Limits)
	for field, value := range table.Fields() {
		if value.Kind() != reflect.Slice { // the rules about tools are lines of their own
			most := value.Interface()
			if most == config.Size(0) {
				most = "any"
			}
			want = append(want, fmt.Sprint("limits.", field.Tag.Get("toml"), " = ", most))
		}
	}
	for _, l := range s.limits() {
		if l.Key != "GOMEMLIMIT" {
			got = append(got, l.Key+" = "+l.Most)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
