package command

import (
	"net"
	"time"

	"berth/internal/admin"
	"berth/internal/auditlog"
	"berth/proxy/audit"
)

const eventOrder = "order"

// ordered writes operators' orders down in the audit log; nil where there is none.
func ordered(deeds *auditlog.Log) func(admin.Order) {
	if deeds == nil {
		return nil
	}
	return func(o admin.Order) {
		l := deeds.Begin(o.At)
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

// noteReread writes down that the configuration was read anew, by a signal or because its file has changed.
func noteReread(deeds *auditlog.Log, by string, err error) {
	if deeds == nil {
		return
	}
	l := deeds.Begin(time.Now())
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
