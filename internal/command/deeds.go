package command

import (
	"net"
	"time"

	"berth/internal/admin"
	"berth/proxy/audit"
)

const eventOrder = "order"

// ordered writes operators' orders down in the audit log; nil where there is none.
func (s *site) ordered() func(admin.Order) {
	if s.deeds == nil {
		return nil
	}
	return func(o admin.Order) {
		l := s.deeds.Begin(o.At)
		l.String("event", eventOrder)
		l.String("by", o.By)
		if host, _, err := net.SplitHostPort(o.Client); err == nil {
			l.String("client", host)
		}
		l.String("order", audit.Clip(o.Method+" "+o.Path)) // also of somebody who was turned away
		l.Int("status", int64(o.Status))
		l.End()
	}
}

// reread writes down that the configuration was read anew, by a signal or because its file has changed.
func (s *site) reread(by string, err error) {
	if s.deeds == nil {
		return
	}
	l := s.deeds.Begin(time.Now())
	l.String("event", eventOrder)
	l.String("by", by)
	l.String("order", "reload")
	outcome := "ok"
	if err != nil {
		outcome = "failed"
	}
	l.String("outcome", outcome)
	l.End()
}
