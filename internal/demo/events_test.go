package demo

import (
	"slices"
	"strings"
	"testing"
)

func TestEventsJoinsDataAndSkipsTheRest(t *testing.T) {
	const stream = "id: 0\ndata:\n\n: comment\n\nevent: message\ndata: {\ndata:  1}\n\r\ndata:2\r\n\r\ndata: cut off"
	var got []string
	for data, err := range events(strings.NewReader(stream)) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(data))
	}
	if want := []string{"{\n 1}", "2"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEventsReportsOverlongLine(t *testing.T) {
	for _, err := range events(strings.NewReader("data: " + strings.Repeat("x", maxLine))) {
		if err == nil {
			t.Error("got an event, want an error")
		}
		return
	}
	t.Error("got nothing, want an error")
}
