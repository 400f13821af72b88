package mcp

import "time"

// AppendMillis appends a time as RFC 3339 has it, in UTC and to the millisecond, as tasks are dated. By its layout
// package time takes several times as long.
func AppendMillis(out []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	if year < 0 || year > 9999 {
		return t.AppendFormat(out, "2006-01-02T15:04:05.000Z")
	}
	hour, minute, second := t.Clock()
	text := [...]byte{4: '-', 7: '-', 10: 'T', 13: ':', 16: ':', 19: '.', 23: 'Z'}
	millis := t.Nanosecond() / int(time.Millisecond)
	text[0], text[1] = digits(year / 100)
	text[2], text[3] = digits(year % 100)
	text[5], text[6] = digits(int(month))
	text[8], text[9] = digits(day)
	text[11], text[12] = digits(hour)
	text[14], text[15] = digits(minute)
	text[17], text[18] = digits(second)
	text[20], text[21] = digits(millis / 10)
	text[22] = byte('0' + millis%10)
	return append(out, text[:]...)
}

// digits are the two of a number below a hundred.
func digits(n int) (tens, ones byte) { return byte('0' + uint8(n)/10), byte('0' + uint8(n)%10) }
