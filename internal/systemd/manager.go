package systemd

import (
	"net"
	"os"
	"sync"
	"time"
)

// manager is the way to the service manager. It is kept: to open one takes a file, and there may be none left when the manager has to hear
// that the process lives.
type manager struct {
	mu   sync.Mutex // guards the fields below
	path string
	conn *net.UnixConn // nil: none is open
}

var theManager manager

// patience is how long a manager may take nothing of what it is told: one that hangs is not waited for.
const patience = 250 * time.Millisecond

// tell says a text to whom the environment names; to nobody where it names none.
func (m *manager) tell(text string) error {
	path := os.Getenv("NOTIFY_SOCKET")
	if path == "" {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conn != nil && m.path == path {
		if m.write(text) == nil {
			return nil
		}
	}
	if m.conn != nil { // whoever listened there may have started anew
		m.conn.Close()
		m.conn = nil
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return err
	}
	m.path, m.conn = path, conn
	return m.write(text)
}

// write is called with mu held, and conn open.
func (m *manager) write(text string) error {
	if err := m.conn.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	_, err := m.conn.Write([]byte(text))
	return err
}
