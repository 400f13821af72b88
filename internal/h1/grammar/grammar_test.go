package grammar

import (
	"strings"
	"testing"

	"golang.org/x/net/http/httpguts"
)

// Each character, at each place of a text, is judged as the specifications do.
func TestCharactersAtEachPlace(t *testing.T) {
	for c := range 256 {
		one := string([]byte{byte(c)})
		control := c < ' ' || c == 0x7f
		for at := range 20 {
			text := strings.Repeat("a", at) + one + strings.Repeat("b", 19-at)
			for _, judged := range []struct {
				what              string
				text, bytes, want bool
			}{
				{"token", IsToken(text), IsToken([]byte(text)), httpguts.ValidHeaderFieldName(one)},
				{"text", IsText(text), IsText([]byte(text)), httpguts.ValidHeaderFieldValue(one)},
				{"plain", IsPlain(text), IsPlain([]byte(text)), !control},
				{"visible", IsVisible(text), IsVisible([]byte(text)), !control && c != ' ' && c < 0x80},
			} {
				if judged.text != judged.want || judged.bytes != judged.want {
					t.Errorf("character %#x at %d, %s: got %v and %v, want %v", c, at, judged.what, judged.text, judged.bytes, judged.want)
				}
			}
		}
	}
	if IsToken("") || IsVisible("") || !IsText("") || !IsPlain("") {
		t.Error("the empty text is misjudged")
	}
}

func TestANumberIsFifteenDigitsAtMost(t *testing.T) {
	for _, c := range []struct {
		text string
		base int64
		want int64 // -1: it is none
	}{
		{"", 10, -1},
		{"0", 10, 0},
		{"007", 10, 7},
		{"999999999999999", 10, 999999999999999},
		{"0000000000000000", 10, -1},
		{"a", 10, -1},
		{"aF", 16, 0xaf},
		{"fffffffffffffff", 16, 1<<60 - 1},
		{"g", 16, -1},
		{"0x1", 16, -1},
		{"+1", 10, -1},
		{"1 ", 10, -1},
		{"1_0", 10, -1},
	} {
		n, ok := Number([]byte(c.text), c.base)
		if ok != (c.want >= 0) || ok && n != c.want {
			t.Errorf("%q to base %d: got %d, %v", c.text, c.base, n, ok)
		}
	}
}

func TestNamesAreJudgedWhateverTheirCase(t *testing.T) {
	for name, want := range map[string]bool{
		"Content-Length": true, "content_LENGTH": true, "Content-Lengths": false, "Contents": false,
		"Mcp-Session-Id": true, "MCP_x": true, "Mcp": false, "X-Forwarded-For": true, "X-Forwarded": false, "Via": true, "X": false,
	} {
		if got := Misplaced([]byte(name)); got != want {
			t.Errorf("%s: got %v", name, got)
		}
	}
	if !SameName([]byte("TRANSFER_encoding"), "transfer-encoding") || SameName([]byte("a-b"), "a_b") {
		t.Error("names are confused")
	}
}
