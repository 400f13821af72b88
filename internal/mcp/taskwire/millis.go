package taskwire

import (
	"sync/atomic"
	"time"
)

// AppendMillis appends a time as RFC 3339 has it, in UTC and to the millisecond, as tasks are dated. By its layout
// package time takes three times as long; what a day is called is worked out once while times are of the same one, or of the next one.
func AppendMillis(out []byte, t time.Time) []byte {
	at := t.Unix()
	last := &lastDays[at/secondsOfDay&1]
	of := last.Load()
	if !of.has(at) {
		t = t.UTC()
		if year := t.Year(); year < 0 || year > 9999 {
			return t.AppendFormat(out, "2006-01-02T15:04:05.000Z")
		}
		of = dayOf(t)
		last.Store(of)
	}
	text, second, millis := of.text, int(at-of.begins), t.Nanosecond()/int(time.Millisecond)
	text[11], text[12] = digits(second / 3600)
	text[14], text[15] = digits(second / 60 % 60)
	text[17], text[18] = digits(second % 60)
	text[20], text[21] = digits(millis / 10)
	text[22] = byte('0' + millis%10)
	return append(out, text[:]...)
}

// day is one day in UTC.
type day struct {
	begins int64    // in seconds, as Unix counts
	text   [24]byte // a time of it, less the digits that the day does not tell
}

// lastDays are those of times that were written before, an even and an odd one: a task may live across midnight.
var lastDays [2]atomic.Pointer[day]

const secondsOfDay = 24 * 60 * 60

// dayOf is the day of a time in UTC, in a year of four digits.
func dayOf(t time.Time) *day {
	year, month, n := t.Date()
	d := &day{time.Date(year, month, n, 0, 0, 0, 0, time.UTC).Unix(), [...]byte{4: '-', 7: '-', 10: 'T', 13: ':', 16: ':', 19: '.', 23: 'Z'}}
	d.text[0], d.text[1] = digits(year / 100)
	d.text[2], d.text[3] = digits(year % 100)
	d.text[5], d.text[6] = digits(int(month))
	d.text[8], d.text[9] = digits(n)
	return d
}

// has reports whether a second is of the day; nil is none.
func (d *day) has(at int64) bool { return d != nil && uint64(at-d.begins) < secondsOfDay }

// digits are the two of a number below a hundred.
func digits(n int) (tens, ones byte) { return byte('0' + uint8(n)/10), byte('0' + uint8(n)%10) }
