package listen

import "testing"

// A list of nothing stays a list, whatever a filter goes through.
func TestAnEmptyListStaysAList(t *testing.T) {
	const text = `{"resourceSubscriptions":[],"toolsListChanged":true}`
	f, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]Filter{"read": f, "sorted": f.Sorted(), "with its own": f.And(f)} {
		if string(got.Encode()) != text {
			t.Errorf("%s: got %s", name, got.Encode())
		}
	}
}
