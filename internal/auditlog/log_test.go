package auditlog

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/journal"
	"berth/internal/realtest"
)

// open opens a log in a file of a folder of its own, which the test may break.
func open(t *testing.T) (l *Log, path string, log *realtest.Journal) {
	t.Helper()
	return openWith(t, Options{})
}

// openWith is open with more options.
func openWith(t *testing.T, o Options) (l *Log, path string, log *realtest.Journal) {
	t.Helper()
	log = new(realtest.Journal)
	path = filepath.Join(t.TempDir(), "log", "audit.jsonl")
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	o.Where, o.Logger = File+path, slog.New(slog.NewTextHandler(log, nil))
	l, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return l, path, log
}

func (l *Log) say(n int64) {
	line := l.Begin(time.Now())
	line.Int("n", n)
	line.End()
}

// said are the lines' numbers in a file.
func said(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	var all []string
	for line := range strings.Lines(string(text)) {
		if _, n, ok := strings.Cut(strings.TrimSuffix(line, "}\n"), `"n":`); ok && strings.HasPrefix(line, "{") {
			all = append(all, n)
		} else {
			t.Errorf("%s: no line: %q", path, line)
		}
	}
	return strings.Join(all, " ")
}

func TestAFileThatIsRenamedIsFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, path, _ := open(t)
		l.say(1)
		time.Sleep(time.Second)
		synctest.Wait()
		if err := os.Rename(path, path+".1"); err != nil {
			t.Fatal(err)
		}
		l.say(2)
		l.Close()
		if old, now := said(t, path+".1"), said(t, path); old != "1" || now != "2" {
			t.Errorf("got %s and %s, want 1 and 2", old, now)
		}
	})
}

func TestWhatAFileDoesNotTakeIsKeptAndTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, path, log := open(t)
		if err := os.Rename(filepath.Dir(path), filepath.Dir(path)+"-gone"); err != nil {
			t.Fatal(err)
		}
		for n := range int64(3) {
			l.say(n)
			time.Sleep(2 * time.Second)
		}
		synctest.Wait()
		if n := log.Count("cannot be written"); n != 1 {
			t.Errorf("told %d times of the failure:\n%s", n, log)
		}
		if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := said(t, path); got != "0 1 2" {
			t.Errorf("got %s", got)
		}
		if n := log.Count("is written again"); n != 1 || log.Count("lost=0") != 1 {
			t.Errorf("told %d times of the recovery:\n%s", n, log)
		}
		l.Close()
	})
}

func TestWhatIsLostIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, path, log := open(t)
		if err := os.RemoveAll(filepath.Dir(path)); err != nil {
			t.Fatal(err)
		}
		line := bytes.Repeat([]byte("x"), mostKept/2-1)
		for range 5 {
			_, _ = l.file.Write(append(line, '\n'))
		}
		l.Close()
		if log.Count("lines=5") != 1 {
			t.Errorf("got %s, want that all five are lost", log)
		}
	})
}

func TestWhereItGoes(t *testing.T) {
	for where, known := range map[string]bool{"": true, "off": true, "stderr": true, "file:/x": true, "file:": false, "stdout": false, "/x": false} {
		if got := Known(where); got != known {
			t.Errorf("%q: got %v", where, got)
		}
	}
	for _, where := range []string{"", Off} {
		if l, err := Open(Options{Where: where}); l != nil || err != nil {
			t.Errorf("%q: got %v, %v", where, l, err)
		}
	}
	var out bytes.Buffer
	l, err := Open(Options{Where: Stderr, Stderr: journal.New(&out)})
	if err != nil {
		t.Fatal(err)
	}
	l.say(1)
	l.Close()
	if !strings.Contains(out.String(), `"msg":"audit","n":1}`) {
		t.Errorf("got %s", &out)
	}
	if _, err := Open(Options{Where: File + filepath.Join(t.TempDir(), "none", "x"), Logger: slog.New(slog.DiscardHandler)}); err == nil {
		t.Error("a file that cannot be opened is no error")
	}
}

func TestFirstIsFirst(t *testing.T) {
	l, err := Open(Options{Where: Stderr, Stderr: journal.New(new(bytes.Buffer))})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if got := l.IsFirst("t"); got != (i == 0) {
			t.Errorf("%d: got %v", i, got)
		}
	}
	for i := range mostTold {
		l.IsFirst(fmt.Sprint(i))
	}
	if !l.IsFirst("t") {
		t.Error("memory is not bounded")
	}
}

// What can be opened is found out without a file being made.
func TestWhereALogCanBeOpened(t *testing.T) {
	dir := t.TempDir()
	there := filepath.Join(dir, "there")
	if err := os.WriteFile(there, []byte("a line"), 0o600); err != nil {
		t.Fatal(err)
	}
	for where, fails := range map[string]bool{
		"off": false, "stderr": false, "file:" + there: false, "file:" + filepath.Join(dir, "new"): false,
		"file:" + filepath.Join(dir, "none", "new"): true, "file:" + filepath.Join(there, "new"): true, "file:" + dir: true,
	} {
		if err := Check(where); (err != nil) != fails {
			t.Errorf("%s: %v", where, err)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("%d files are there", len(entries))
	}
	if text, _ := os.ReadFile(there); string(text) != "a line" {
		t.Errorf("the file says %q", text)
	}
}
