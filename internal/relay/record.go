package relay

import (
	"fmt"
	"strconv"
	"strings"
)

// An exchange's record begins as an offer, which holds the sealed request or says that it is a blob
// beside it. Who takes the request swaps that for a note of its own, in which it counts the parts of
// the answer each minute; who takes it back, for takenBack.
const (
	inlineOffer = "offer:"
	blobOffer   = "blob"
	takenBack   = "back"
	takenPrefix = "taken:"
)

// inlineMost is how long a sealed request may be, in bytes, to be part of its record.
const inlineMost = 128 << 10

func isOffer(record []byte) bool {
	return string(record) == blobOffer || strings.HasPrefix(string(record[:min(len(record), len(inlineOffer))]), inlineOffer)
}

// takenNote is the record of who took it, by a nonce.
func takenNote(nonce string, parts int) []byte {
	return fmt.Appendf(nil, "%s%s:%d", takenPrefix, nonce, parts)
}

// isNoteOf reports whether a record is one of who took it with that nonce.
func isNoteOf(nonce string, record []byte) bool {
	return strings.HasPrefix(string(record), takenPrefix+nonce+":")
}

// partsIn is how many parts of the answer a record counts.
func partsIn(record []byte) int {
	text := string(record)
	if !strings.HasPrefix(text, takenPrefix) {
		return 0
	}
	n, _ := strconv.Atoi(text[strings.LastIndexByte(text, ':')+1:]) // another form counts none
	return n
}
