package body

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestWhatIsWrittenInChunksIsReadSo(t *testing.T) {
	for _, parts := range [][]string{{}, {""}, {"a", "", "bc"}, {strings.Repeat("x", 70000), "\r\n"}} {
		var out bytes.Buffer
		var w Writer
		w.Chunks(&out)
		for _, part := range parts {
			if n, err := io.WriteString(&w, part); n != len(part) || err != nil {
				t.Errorf("Write: %d, %v", n, err)
			}
		}
		if err := w.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		var r Reader
		chunks(&r, bufio.NewReader(&out))
		if got, err := io.ReadAll(&r); string(got) != strings.Join(parts, "") || err != nil || out.Len() != 0 {
			t.Errorf("got %d bytes, %v, %d left", len(got), err, out.Len())
		}
	}
}

func TestALengthIsKept(t *testing.T) {
	for _, c := range []struct {
		write, want string
		err, end    error
	}{
		{"hello", "hello", nil, nil}, {"hell", "hell", nil, ErrTooShort}, {"hello!", "hello", ErrTooLong, nil}, {"", "", nil, ErrTooShort},
	} {
		var out bytes.Buffer
		var w Writer
		w.Length(&out, 5)
		_, err := io.WriteString(&w, c.write)
		if end := w.Close(); !errors.Is(err, c.err) || !errors.Is(end, c.end) || out.String() != c.want {
			t.Errorf("%q: got %q, %v, %v", c.write, out.String(), err, end)
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
		for r.Chunks(src, Misplaced); r.err == nil && !r.Whole(); {
			_, _ = r.Read(p)
		}
	}); n > 0 || !r.Whole() {
		t.Errorf("got %v allocations, whole %v", n, r.Whole())
	}
}
