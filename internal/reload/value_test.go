package reload_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/realtest"
	"berth/internal/reload"
)

// A source is two files that a value is read from.
type source struct {
	t     *testing.T
	files []reload.File
	logs  realtest.Journal
	made  int // how often a value was made of them
}

func newSource(t *testing.T, contents ...string) *source {
	s := &source{t: t}
	dir := t.TempDir()
	for i, content := range contents {
		name := string(rune('a' + i))
		s.files = append(s.files, reload.File{Key: "key." + name, Path: filepath.Join(dir, name)})
		s.write(i, content)
	}
	return s
}

func (s *source) write(i int, content string) {
	s.t.Helper()
	if err := os.WriteFile(s.files[i].Path, []byte(content), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// open reads the files, of which none may hold "bad", and runs until the test ends.
func (s *source) open() (*reload.Value[string], error) {
	log := slog.New(slog.NewTextHandler(&s.logs, nil))
	v, err := reload.Open(reload.Options{What: "test", Files: s.files, Logger: log}, func(contents [][]byte) (string, error) {
		s.made++
		all := string(bytes.Join(contents, []byte("+")))
		if strings.Contains(all, "bad") {
			return "", errors.New("unfit")
		}
		return all, nil
	})
	if err == nil {
		go func() { _ = v.Run(s.t.Context()) }()
	}
	return v, err
}

func settle() { time.Sleep(reload.Every + time.Millisecond); synctest.Wait() }

func TestFilesAreTakenOverTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource(t, "1", "2")
		v, err := s.open()
		if err != nil || v.Get() != "1+2" {
			t.Fatalf("got %q, %v, want 1+2", v.Get(), err)
		}
		s.write(1, "3")
		settle()
		if got := v.Get(); got != "1+3" {
			t.Errorf("got %q, want 1+3", got)
		}
	})
}

// TestOnlyContentCounts: a file that is written anew did not change, and one that was
// given its old time did.
func TestOnlyContentCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource(t, "1")
		v, err := s.open()
		if err != nil {
			t.Fatal(err)
		}
		s.write(0, "1")
		settle()
		if s.made != 1 || s.logs.String() != "" {
			t.Errorf("made %d times, logged %q, want once and nothing", s.made, s.logs.String())
		}
		info, err := os.Stat(s.files[0].Path)
		if err != nil {
			t.Fatal(err)
		}
		s.write(0, "2")
		if err := os.Chtimes(s.files[0].Path, info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
		settle()
		if got := v.Get(); got != "2" {
			t.Errorf("got %q, want 2", got)
		}
	})
}

// TestWhatCannotBeUsedIsToldOnce, and again if it is something else.
func TestWhatCannotBeUsedIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource(t, "1")
		v, err := s.open()
		if err != nil {
			t.Fatal(err)
		}
		for _, worsen := range []func(){
			func() { s.write(0, "bad") },
			func() { s.write(0, strings.Repeat("x", reload.MaxFile+1)) },
			func() { os.Remove(s.files[0].Path) },
		} {
			before := s.logs.Count("key.a")
			worsen()
			settle()
			settle()
			if n := s.logs.Count("key.a") - before; n != 1 || v.Get() != "1" {
				t.Errorf("got %q, logged\n%s\nwant 1, and the key once", v.Get(), s.logs.String())
			}
			if since, err := v.Fault(); err == nil || since.IsZero() || !strings.Contains(err.Error(), s.files[0].Path) {
				t.Errorf("got fault %v since %v, want one that names the file", err, since)
			}
		}
		s.write(0, "1")
		settle()
		if _, err := v.Fault(); err != nil {
			t.Errorf("as it was: got fault %v", err)
		}
	})
}

func TestUnusableFilesDoNotOpen(t *testing.T) {
	s := newSource(t, "bad")
	if _, err := s.open(); err == nil || !strings.Contains(err.Error(), "key.a") || !strings.Contains(err.Error(), s.files[0].Path) {
		t.Errorf("got %v, want an error that names key and file", err)
	}
}

// Some editors put a byte order mark before a certificate, a key or a token.
func TestAByteOrderMarkIsNotRead(t *testing.T) {
	s := newSource(t, "\ufeffa", "b\ufeff")
	v, err := s.open()
	if err != nil || v.Get() != "a+b\ufeff" {
		t.Errorf("read %q, %v", v.Get(), err)
	}
}

// A disk that does not answer keeps nobody from going: a value that is not made stands for it.
func TestAReadingThatHangsIsNotWaitedFor(t *testing.T) {
	s := newSource(t, "one")
	synctest.Test(t, func(t *testing.T) {
		disk := make(chan struct{}, 1)
		disk <- struct{}{}
		v, err := reload.Open(reload.Options{Files: s.files}, func([][]byte) (string, error) {
			<-disk
			return "", nil
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- v.Run(ctx) }()
		s.write(0, "two")
		settle()
		end()
		synctest.Wait()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		default:
			t.Error("who reads is waited for")
		}
		close(disk)
	})
}
