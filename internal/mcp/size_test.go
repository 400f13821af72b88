package mcp

import (
	"testing"
	"unsafe"
)

// A call lies in each request, and is emptied for each.
func TestACallIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(Call{}); size > 384 {
		t.Errorf("%d bytes, want at most 384", size)
	}
	if size := unsafe.Sizeof(Answer{}); size > 216 {
		t.Errorf("an answer has %d bytes, want at most 216", size)
	}
}
