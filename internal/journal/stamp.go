package journal

import (
	"sync/atomic"
	"time"
)

// stamp is how the times of one second are written: lines of a second differ in its fraction alone.
type stamp struct {
	second     int64
	place      *time.Location
	head, zone string
}

// latest is the stamp that was used last.
var latest atomic.Pointer[stamp]

// appendTime appends at as time.RFC3339Nano has it.
func appendTime(text []byte, at time.Time) []byte {
	second, place := at.Unix(), at.Location()
	s := latest.Load()
	if s == nil || s.second != second || s.place != place {
		s = &stamp{second, place, at.Format("2006-01-02T15:04:05"), at.Format("Z07:00")}
		latest.Store(s)
	}
	text = append(text, s.head...)
	if n := uint32(at.Nanosecond()); n > 0 {
		digits, end := [...]byte{'.', 9: 0}, 10
		for i := 7; i > 0; i -= 3 {
			three := n % 1000
			n /= 1000
			digits[i], digits[i+1], digits[i+2] = byte('0'+three/100), byte('0'+three/10%10), byte('0'+three%10)
		}
		for digits[end-1] == '0' {
			end--
		}
		text = append(text, digits[:end]...)
	}
	return append(text, s.zone...)
}
