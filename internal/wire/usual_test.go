package wire

import "testing"

func TestUsualNamesAreCanonicalAndHaveANumberEach(t *testing.T) {
	seen := map[Usual]bool{0: true}
	for number, name := range UsualNames() {
		if seen[number] || UsualOf(name) != number || CanonicalName(name) != name {
			t.Errorf("%s has number %d, and %d", name, number, UsualOf(name))
		}
		seen[number] = true
	}
	if len(usual) > 255 || UsualOf("X-Other") != 0 {
		t.Errorf("%d names, and another has number %d", len(usual), UsualOf("X-Other"))
	}
}

func TestSomeUsualNames(t *testing.T) {
	some := UsualsThat(func(name string) bool { return name != "Date" })
	if !some[UsualOf("Accept")] || some[UsualOf("Date")] || some[UsualOf("X-Other")] {
		t.Error("some are others")
	}
}
