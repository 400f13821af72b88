package systemd

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// listen is the manager's end of NOTIFY_SOCKET.
func listen(t *testing.T) *net.UnixConn {
	t.Helper()
	path := t.TempDir() + "/notify"
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	t.Setenv("NOTIFY_SOCKET", path)
	return conn
}

func hear(t *testing.T, conn *net.UnixConn) string {
	t.Helper()
	buffer := make([]byte, 4096)
	n, err := conn.Read(buffer)
	if err != nil {
		t.Fatal(err)
	}
	return string(buffer[:n])
}

func TestManagerIsTold(t *testing.T) {
	conn, n := listen(t), Notifier{}
	for want, say := range map[string]func(){
		"READY=1\nSTATUS=serving":                           func() { n.Ready("serving") },
		"STOPPING=1\nSTATUS=draining":                       func() { n.Stopping("draining") },
		"STATUS=2 held calls\nEXTEND_TIMEOUT_USEC=30000000": func() { n.Status("2 held calls", 30*time.Second) },
		"STATUS=at rest":                                    func() { n.Status("at rest", 0) },
	} {
		say()
		if got := hear(t, conn); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	n.Reloading() // systemd.service(5), Type=notify-reload
	if got := hear(t, conn); !regexp.MustCompile(`^RELOADING=1\nMONOTONIC_USEC=[1-9]\d+$`).MatchString(got) {
		t.Errorf("got %q", got)
	}
}

func TestNobodyIsToldWithoutAManager(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	t.Setenv("WATCHDOG_USEC", "")
	Notifier{}.Ready("serving")
	if err := NewWatchdog(slog.New(slog.DiscardHandler), Probe{Name: "never", Ask: func() error { panic("asked") }}).Run(t.Context()); err != nil {
		t.Error(err)
	}
}

// watch runs a watchdog of three seconds in fake time for some of them.
func watch(t *testing.T, ask func() error) (told int, log string) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		var lines strings.Builder
		w := newWatchdog(3*time.Second, Notifier{}, slog.New(slog.NewTextHandler(&lines, nil)), []Probe{
			{"other", func() error { return nil }}, {"asked", ask},
		})
		w.tell = func() { told++ }
		done := make(chan error)
		go func() { done <- w.Run(ctx) }()
		time.Sleep(10*time.Second + time.Millisecond)
		stop()
		<-done
		time.Sleep(time.Minute) // in which what hangs returns
		log = lines.String()
	})
	return told, log
}

func TestWatchdogIsToldWhileAllIsWell(t *testing.T) {
	if told, log := watch(t, func() error { return nil }); told != 11 || log != "" {
		t.Errorf("told %d times, log %q", told, log)
	}
}

// A lock that nobody gives back is no life.
func TestWatchdogIsSilentWhileAProbeHangs(t *testing.T) {
	asked := 0
	told, log := watch(t, func() error {
		asked++
		time.Sleep(time.Minute)
		return nil
	})
	if told != 0 || asked != 1 {
		t.Errorf("told %d times, asked %d times", told, asked)
	}
	if strings.Count(log, "probe=asked") != 1 {
		t.Errorf("log %q", log)
	}
}

func TestWatchdogIsSilentWhileAProbeFailsAndNoLonger(t *testing.T) {
	var ill error
	asked := 0
	told, log := watch(t, func() error {
		if asked++; asked < 5 {
			ill = errors.New("ill")
		} else {
			ill = nil
		}
		return ill
	})
	if told != 7 || !strings.Contains(log, "why=ill") {
		t.Errorf("told %d times, log %q", told, log)
	}
}
