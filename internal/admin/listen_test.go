package admin

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

// over returns a client whose connections go to the socket at path.
func over(t *testing.T, path string) *http.Client {
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func TestASocketIsForItsOwnerOnlyAndGoesAtTheEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "admin.sock")
	s, err := New(t.Context(), Options{Listen: "unix:" + path, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	if got := send(t, over(t, path), "GET", "http://any.name/livez"); got.status != 200 {
		t.Errorf("got %d, want 200", got.status)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v, want mode 0600", info.Mode(), err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the socket is left behind")
	}
}

// Who may open it is told by its mode, which a name without a file has not.
func TestASocketWithoutAFileIsRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("@berth", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := New(t.Context(), Options{Listen: "unix:@berth", Log: slog.New(slog.DiscardHandler)})
	if err == nil {
		s.listener.Close()
		t.Fatal("it listens")
	}
}

func TestAStaleSocketIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "admin.sock")
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	stale.Close()
	run(t, Options{Listen: "unix:" + path})
	if got := send(t, over(t, path), "GET", "http://any.name/livez"); got.status != 200 {
		t.Errorf("got %d, want 200", got.status)
	}
}

func TestASocketInUseOrAFileIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "admin.sock")
	run(t, Options{Listen: "unix:" + path})
	if _, err := New(t.Context(), Options{Listen: "unix:" + path, Log: slog.New(slog.DiscardHandler)}); err == nil {
		t.Error("got no error for a socket in use")
	}
	if got := send(t, over(t, path), "GET", "http://any.name/livez"); got.status != 200 {
		t.Errorf("the first server: got %d, want 200", got.status)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(t.Context(), Options{Listen: "unix:" + file, Log: slog.New(slog.DiscardHandler)}); err == nil {
		t.Error("got no error for a path that is a file")
	}
	if _, err := os.Stat(file); err != nil {
		t.Errorf("the file is gone: %v", err)
	}
}

// A path that does not refuse but fails in another way may be somebody's: here
// a datagram socket, which a stream cannot connect to.
func TestASocketOfAnotherKindIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.sock")
	other, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := New(t.Context(), Options{Listen: "unix:" + path, Log: slog.New(slog.DiscardHandler)}); err == nil {
		t.Error("got no error for a socket in use")
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the socket is gone: %v", err)
	}
}
