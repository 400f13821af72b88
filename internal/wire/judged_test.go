package wire

import "testing"

// Only whoever has looked at a field says that it was judged: what is set in its place was not.
func TestWhatIsSetInPlaceOfAFieldIsNotJudged(t *testing.T) {
	var h Header
	h.Append(Field{Name: "A", Value: "b", Judged: true})
	h.Set("A", "c\r\nd")
	h.Add("E", "f")
	for _, f := range h.Fields() {
		if f.Judged {
			t.Errorf("%+v", f)
		}
	}
}
