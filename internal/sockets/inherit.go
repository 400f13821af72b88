package sockets

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/coreos/go-systemd/v22/activation"
)

// adminName names the admin listener among what a service manager hands over
// (FileDescriptorName=, systemd.socket(5)); a unit of that name does, too.
const adminName = "admin"

// Inherited are the listeners that the service manager has opened for this process.
type Inherited struct {
	Clients *Listener // nil: none
	Admin   *Listener // nil: none
}

// Inherit takes what the service manager hands over to this process, and unsets the variables that
// say so: a second call finds nothing, nor does a child.
func Inherit() (Inherited, error) { return inherit(activation.Files(true)) }

func inherit(files []*os.File) (in Inherited, err error) {
	for _, file := range files {
		listener, failed := fromFile(file)
		at := &in.Clients
		if isAdmin(file.Name()) {
			at = &in.Admin
		}
		switch {
		case failed != nil:
			err = errors.Join(err, failed)
		case *at != nil:
			err = errors.Join(err, fmt.Errorf("socket %s: is one too many: there is one for clients, and one called %q", file.Name(), adminName), listener.socket.Close())
		default:
			*at = listener
		}
	}
	if in.Clients != nil && in.Clients.Addr().Network() != "tcp" {
		err = errors.Join(err, fmt.Errorf("socket for clients: %s is not TCP", in.Clients.Addr()))
	}
	if err != nil {
		in.close()
		return Inherited{}, err
	}
	return in, nil
}

func (in Inherited) close() {
	for _, l := range []*Listener{in.Clients, in.Admin} {
		if l != nil {
			_ = l.socket.Close()
		}
	}
}

func isAdmin(name string) bool {
	name = strings.TrimSuffix(name, ".socket")
	return name == adminName || strings.HasSuffix(name, "-"+adminName)
}

// fromFile takes file over.
func fromFile(file *os.File) (*Listener, error) {
	defer file.Close() // the listener has a copy
	listener, err := net.FileListener(file)
	if err != nil {
		return nil, fmt.Errorf("socket %s: %w", file.Name(), err)
	}
	s, ok := listener.(socket)
	if !ok {
		return nil, fmt.Errorf("socket %s: is no listener of connections", file.Name())
	}
	return newListener(s, true), nil
}
