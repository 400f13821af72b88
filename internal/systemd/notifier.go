package systemd

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// Notifier tells the manager. The zero value does, without a log. Where there is none to tell, what
// is told is lost.
type Notifier struct {
	Log *slog.Logger // hears what could not be told; nil: nobody
}

// Ready says that the process serves, or has loaded its configuration anew.
func (n Notifier) Ready(status string) { n.tell(daemon.SdNotifyReady, "STATUS="+status) }

// Reloading says that the process loads its configuration anew, until Ready is said again.
func (n Notifier) Reloading() {
	n.tell(daemon.SdNotifyReloading, fmt.Sprintf("MONOTONIC_USEC=%d", monotonic()))
}

// Stopping says that the process goes.
func (n Notifier) Stopping(status string) { n.tell(daemon.SdNotifyStopping, "STATUS="+status) }

// Status says in a line what the process does. With a time above 0 it asks for that much more of
// it: whoever stops can say so again and again, and is not killed meanwhile.
func (n Notifier) Status(status string, more time.Duration) {
	lines := []string{"STATUS=" + status}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d", more.Microseconds()))
	}
	n.tell(lines...)
}

func (n Notifier) tell(lines ...string) {
	if err := theManager.tell(strings.Join(lines, "\n")); err != nil && n.Log != nil {
		n.Log.Debug("the service manager could not be told", "error", err)
	}
}
