package discover

import "context"

// Directory is where berths tell each other of instances. Nil is none.
type Directory struct{}

func (d *Directory) run(ctx context.Context, m *Members)                       {}
func (d *Directory) announce(ctx context.Context, m *Members, list []Instance) {}
func (d *Directory) strike(c Changes)                                          {}
