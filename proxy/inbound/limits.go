package inbound

import (
	"cmp"
	"time"
)

// Limits bound what clients may cost. Zero values are the defaults given. A caller
// is who caller.go says.
type Limits struct {
	Body       int64         // bytes of a request's body; 4 MiB
	BodyRead   time.Duration // time for it to arrive; 30 s
	Answer     int64         // bytes of an answer, and of an event of a stream; 0: any number
	WriteStall time.Duration // time that one write to the client may take; 30 s
	Headers    int           // header lines of a request, and options in its Connection; 200
	TaskID     int           // bytes of a task id; 256
	SessionID  int           // bytes of a session id; 2048
	Batch      int           // messages in a batch; 100

	InFlight          int     // calls under way at once; 5000
	InFlightPerCaller int     // of these, calls of one caller; 2500
	Buffered          int64   // bytes of request bodies in memory; 256 MiB, one caller half of it
	Streams           int     // standing streams at once; 20,000
	StreamsPerCaller  int     // standing streams of one caller; 10,000
	Polls             float64 // tasks that one caller asks for in a second; 0: any number
	UnknownIDs        float64 // unknown ids that one caller names in a second; 0: any number
}

// WithDefaults returns l with a default in the place of each zero that is not a bound itself.
func (l Limits) WithDefaults() Limits {
	l.Body = cmp.Or(l.Body, 4<<20)
	l.BodyRead = cmp.Or(l.BodyRead, 30*time.Second)
	l.WriteStall = cmp.Or(l.WriteStall, 30*time.Second)
	l.Headers = cmp.Or(l.Headers, 200)
	l.TaskID = cmp.Or(l.TaskID, 256)
	l.SessionID = cmp.Or(l.SessionID, 2048)
	l.Batch = cmp.Or(l.Batch, 100)
	l.InFlight = cmp.Or(l.InFlight, 5000)
	l.InFlightPerCaller = cmp.Or(l.InFlightPerCaller, 2500)
	l.Buffered = cmp.Or(l.Buffered, 256<<20)
	l.Streams = cmp.Or(l.Streams, 20_000)
	l.StreamsPerCaller = cmp.Or(l.StreamsPerCaller, 10_000)
	return l
}
