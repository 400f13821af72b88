package discover_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/discover"
)

const one, two = `[{"name":"a","address":"10.0.0.1:1"}]`, `[{"name":"a","address":"10.0.0.1:1"},{"name":"b","address":"10.0.0.2:1"}]`

// seen lets a file be read.
func seen() { time.Sleep(time.Second + time.Millisecond); synctest.Wait() }

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// However a file is put in place, what it holds counts.
func TestFilesAreFollowedHoweverTheyArePutInPlace(t *testing.T) {
	ways := map[string]func(t *testing.T, path string, nth int, content string){
		"written":             func(t *testing.T, path string, _ int, content string) { write(t, path, content) },
		"renamed into place":  rename,
		"as a mounted volume": mount,
	}
	for name, put := range ways {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "upstreams.json")
				put(t, path, 0, one)
				h := hear(t, &discover.File{Path: path, Template: template})
				synctest.Wait()
				for i, step := range []struct{ content, want string }{
					{one, "a@10.0.0.1:1"}, {two, "a@10.0.0.1:1, b@10.0.0.2:1"}, {one, "a@10.0.0.1:1"}, {"[]", ""},
				} {
					put(t, path, i+1, step.content)
					seen()
					if got, err := h.last(); got != step.want || err != nil {
						t.Errorf("%s: got %q, %v, want %q", step.content, got, err, step.want)
					}
				}
			})
		})
	}
}

func rename(t *testing.T, path string, _ int, content string) {
	t.Helper()
	write(t, path+".new", content)
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// mount puts content in place as a kubelet does for a ConfigMap: path is a link to ..data/NAME, and
// ..data a link to a folder of its own for each version, which is swapped.
func mount(t *testing.T, path string, nth int, content string) {
	t.Helper()
	dir, name := filepath.Dir(path), filepath.Base(path)
	version := fmt.Sprintf("..version_%d", nth)
	if err := os.Mkdir(filepath.Join(dir, version), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, version, name), content)
	if err := os.Symlink(version, filepath.Join(dir, "..data_tmp")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")); err != nil {
		t.Fatal(err)
	}
	if nth == 0 {
		if err := os.Symlink(filepath.Join("..data", name), path); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err := os.RemoveAll(filepath.Join(dir, fmt.Sprintf("..version_%d", nth-1))); err != nil {
		t.Fatal(err)
	}
}

// What cannot be read says so until it can, and is no empty list.
func TestFaultyFilesAreErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "upstreams.json")
		h := hear(t, &discover.File{Path: path, Template: template})
		synctest.Wait()
		h.awaitError(t, "no such file")
		for content, words := range map[string]string{"": "EOF", two[:20]: "EOF", "[{}]": "[0]"} {
			write(t, path, one)
			seen()
			h.await(t, "a@10.0.0.1:1")
			write(t, path, content)
			seen()
			h.awaitError(t, words)
		}
		write(t, path, string(make([]byte, 1<<20+1)))
		seen()
		h.awaitError(t, "larger than")
		write(t, path, one)
		seen()
		h.await(t, "a@10.0.0.1:1")
	})
}

// What never ends to be opened does not keep berth from the file that takes its place.
func TestAPipeIsNoFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "upstreams.json")
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		h := hear(t, &discover.File{Path: path, Template: template})
		synctest.Wait()
		h.awaitError(t, "no regular file")
		rename(t, path, 0, one)
		seen()
		h.await(t, "a@10.0.0.1:1")
	})
}
