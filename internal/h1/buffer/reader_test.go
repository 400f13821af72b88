package buffer

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"berth/internal/realtest"
)

// pairs are connections of the kernel's, and others.
var pairs = map[string]func(t *testing.T) (near, far net.Conn){
	"TCP": func(t *testing.T) (near, far net.Conn) {
		near, far = realtest.Pair(t)
		return wrapped{near}, far
	},
	"memory": func(t *testing.T) (near, far net.Conn) { return net.Pipe() },
}

// wrapped is a connection within another, as those of limits are.
type wrapped struct{ net.Conn }

func (w wrapped) PlainConn() net.Conn { return w.Conn }

func each(t *testing.T, test func(t *testing.T, r *Reader, near, far net.Conn)) {
	for name, pair := range pairs {
		t.Run(name, func(t *testing.T) {
			near, far := pair(t)
			defer near.Close()
			defer far.Close()
			r := new(Reader)
			r.Reset(near)
			test(t, r, near, far)
			r.Reset(nil)
			if r.memory != nil {
				t.Error("memory was not given back")
			}
		})
	}
}

func TestWhoWaitsHoldsNoMemory(t *testing.T) {
	each(t, func(t *testing.T, r *Reader, near, far net.Conn) {
		near.SetReadDeadline(time.Now().Add(time.Millisecond))
		if err := r.WaitReadable(); !errors.Is(err, os.ErrDeadlineExceeded) || r.memory != nil {
			t.Errorf("got %v, memory %v", err, r.memory != nil)
		}
		near.SetReadDeadline(time.Time{})
		go io.WriteString(far, "hello")
		if err := r.WaitReadable(); err != nil || r.Buffered() == 0 || r.memory == nil {
			t.Errorf("got %v, %d bytes", err, r.Buffered())
		}
		if b, err := r.Peek(5); string(b) != "hello" || err != nil {
			t.Errorf("got %q, %v", b, err)
		}
		r.Release()
		if n, err := r.Discard(4); n != 4 || err != nil || string(r.Bytes()) != "o" {
			t.Errorf("got %d, %v, left %q", n, err, r.Bytes())
		}
		r.Add('!')
		p := make([]byte, 9)
		if n, err := r.Read(p); string(p[:n]) != "o!" || err != nil {
			t.Errorf("got %q, %v", p[:n], err)
		}
		if r.Release(); r.memory != nil {
			t.Error("memory is held for nothing")
		}
	})
}

func TestMoreThanFits(t *testing.T) {
	each(t, func(t *testing.T, r *Reader, _, far net.Conn) {
		sent := make([]byte, 5*Size)
		for i := range sent {
			sent[i] = byte(i % 251)
		}
		go func() {
			far.Write(sent)
			far.Close()
		}()
		if _, err := r.Discard(10); err != nil {
			t.Fatal(err)
		}
		if b, err := r.Peek(3 * Size); err != nil || string(b) != string(sent[10:10+3*Size]) {
			t.Errorf("got %d bytes, %v", len(b), err)
		}
		rest, err := io.ReadAll(r)
		if err != nil || string(rest) != string(sent[10:]) {
			t.Errorf("got %d bytes, %v", len(rest), err)
		}
		if err := r.WaitReadable(); err != io.EOF {
			t.Errorf("after the end: %v", err)
		}
		if b, err := r.Peek(1); len(b) > 0 || err != io.EOF {
			t.Errorf("after the end: %q, %v", b, err)
		}
	})
}

// Who looks does not wait: he finds what has come, the end, or nothing, and then holds no memory.
func TestALookDoesNotWait(t *testing.T) {
	near, far := pairs["TCP"](t)
	defer near.Close()
	defer far.Close()
	r := new(Reader)
	r.Reset(near)
	if r.Look() || r.memory != nil {
		t.Fatalf("something is there; memory %v", r.memory != nil)
	}
	for _, size := range []int{1, Size} {
		sent := make([]byte, size)
		if _, err := far.Write(sent); err != nil {
			t.Fatal(err)
		}
		if err := r.Fill(); err != nil || r.Buffered() != size {
			t.Fatalf("got %v, %d bytes", err, r.Buffered())
		}
		if filled := size == Size; r.Filled() != filled {
			t.Errorf("%d bytes: filled %v", size, r.Filled())
		}
		if _, err := r.Discard(size); err != nil || r.Look() {
			t.Fatalf("something is left, or %v", err)
		}
		if r.Filled() {
			t.Error("filled by nothing")
		}
	}
	_ = far.Close()
	if err := r.WaitReadable(); err != io.EOF || !r.Look() {
		t.Errorf("at the end: %v", err)
	}
}

// What came before the end is taken before that is told.
func TestTheEndComesAfterTheBytes(t *testing.T) {
	each(t, func(t *testing.T, r *Reader, _, far net.Conn) {
		go func() {
			io.WriteString(far, "ab")
			far.Close()
		}()
		if b, err := r.Peek(3); string(b) != "ab" || err != io.EOF {
			t.Errorf("got %q, %v", b, err)
		}
		if n, err := r.Discard(3); n != 2 || err != io.EOF {
			t.Errorf("got %d, %v", n, err)
		}
	})
}
