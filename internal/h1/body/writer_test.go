package body

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"

	"berth/internal/h1/grammar"
)

func TestWhatIsWrittenInChunksIsReadSo(t *testing.T) {
	for _, parts := range [][]string{{}, {"a", "bc"}, {strings.Repeat("x", 70000), "\r\n"}} {
		var out []byte
		for _, part := range parts {
			out = append(append(AppendSize(out, len(part)), part...), "\r\n"...)
		}
		src := bufio.NewReader(bytes.NewReader(append(out, LastChunk...)))
		var r Reader
		chunks(&r, src)
		if got, err := io.ReadAll(&r); string(got) != strings.Join(parts, "") || err != nil || src.Buffered() != 0 {
			t.Errorf("got %d bytes, %v, %d left", len(got), err, src.Buffered())
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	text := strings.Repeat("5\r\nhello\r\n", 20) + "0\r\nX: y\r\n\r\n"
	in := strings.NewReader(text)
	src, p := bufio.NewReader(in), make([]byte, 64)
	var r Reader
	if n := testing.AllocsPerRun(100, func() {
		in.Reset(text)
		src.Reset(in)
		for r.Chunks(src, grammar.Misplaced); r.err == nil && !r.Whole(); {
			_, _ = r.Read(p)
		}
	}); n > 0 || !r.Whole() {
		t.Errorf("got %v allocations, whole %v", n, r.Whole())
	}
}
