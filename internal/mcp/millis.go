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
	putDigits(text[:4], year)
	putDigits(text[5:7], int(month))
	putDigits(text[8:10], day)
	putDigits(text[11:13], hour)
	putDigits(text[14:16], minute)
	putDigits(text[17:19], second)
	putDigits(text[20:23], t.Nanosecond()/int(time.Millisecond))
	return append(out, text[:]...)
}

// putDigits writes n, of as many digits as there is room for.
func putDigits(to []byte, n int) {
	for i := len(to) - 1; i >= 0; i-- {
		to[i] = byte('0' + n%10)
		n /= 10
	}
}
