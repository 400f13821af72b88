package config

import (
	"fmt"
	"log/slog"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// Duration is a span of time, written like "30s", "5m" or "168h".
type Duration time.Duration

const hour = Duration(time.Hour)

// UnmarshalText reads what [time.ParseDuration] reads, and nothing negative.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf(`must be a duration with a unit, such as "30s", got %s`, quote(string(text)))
	}
	if parsed < 0 {
		return fmt.Errorf("must not be negative, got %s", quote(string(text)))
	}
	*d = Duration(parsed)
	return nil
}

// String returns the shortest form that reads back as the same value.
func (d Duration) String() string {
	s := time.Duration(d).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Size is a number of bytes, written like "64KiB", "512B" or plainly as a number.
type Size int64

// The units of [Size]: powers of 1024 only, so that nobody has to guess what a "KB" is.
const (
	KiB Size = 1 << 10
	MiB Size = 1 << 20
	GiB Size = 1 << 30
)

// sizeUnits is in descending order: String takes the first that divides.
var sizeUnits = []struct {
	suffix string
	size   Size
}{{"GiB", GiB}, {"MiB", MiB}, {"KiB", KiB}, {"B", 1}}

// UnmarshalText reads a whole number of bytes, with or without a unit.
func (s *Size) UnmarshalText(text []byte) error {
	digits, unit := string(text), Size(1)
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(digits, u.suffix); ok {
			digits, unit = strings.TrimRight(rest, " "), u.size
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/int64(unit) {
		return fmt.Errorf(`must be a size in bytes, such as 65536, "64KiB" or "4MiB", got %s`, quote(string(text)))
	}
	*s = Size(n) * unit
	return nil
}

// String returns the size in the largest unit that divides it.
func (s Size) String() string {
	for _, u := range sizeUnits {
		if s != 0 && s%u.size == 0 {
			return strconv.FormatInt(int64(s/u.size), 10) + u.suffix
		}
	}
	return "0B"
}

// Rate is how often something may happen, in times a second, written like "50/s" or "10/m". 0 is no
// bound.
type Rate float64

// maxRate is far beyond what one process can do, and keeps sums with rates exact.
const maxRate = 1_000_000

// UnmarshalText reads a whole number a second or a minute.
func (r *Rate) UnmarshalText(text []byte) error {
	number, unit, _ := strings.Cut(string(text), "/")
	n, err := strconv.ParseUint(strings.TrimSpace(number), 10, 32)
	seconds, known := map[string]float64{"s": 1, "m": 60}[strings.TrimSpace(unit)]
	if err != nil || !known || n > maxRate {
		return fmt.Errorf(`must be a rate such as "50/s" or "10/m", got %s`, quote(string(text)))
	}
	*r = Rate(float64(n) / seconds)
	return nil
}

// String returns the rate by the second if that is whole, else by the minute.
func (r Rate) String() string {
	if r == Rate(math.Trunc(float64(r))) {
		return strconv.FormatFloat(float64(r), 'f', 0, 64) + "/s"
	}
	return strconv.FormatFloat(math.Round(float64(r)*60), 'f', 0, 64) + "/m"
}

// Prefix is a range of addresses, written as a CIDR ("10.0.0.0/8") or as one address.
type Prefix struct{ netip.Prefix }

// UnmarshalText refuses bits beyond a CIDR's length: "10.1.2.3/8" is more likely a slip.
func (p *Prefix) UnmarshalText(text []byte) error {
	if addr, err := netip.ParseAddr(string(text)); err == nil && addr.Zone() == "" {
		addr = addr.Unmap()
		p.Prefix = netip.PrefixFrom(addr, addr.BitLen())
		return nil
	}
	parsed, err := netip.ParsePrefix(string(text))
	if err != nil {
		return fmt.Errorf(`must be a CIDR or an IP address, such as "10.0.0.0/8", got %s`, quote(string(text)))
	}
	if parsed != parsed.Masked() {
		return fmt.Errorf("has bits set beyond its length, did you mean %q?", parsed.Masked())
	}
	if parsed.Addr().Is4In6() && parsed.Bits() >= 96 { // addresses are compared as what they stand for
		parsed = netip.PrefixFrom(parsed.Addr().Unmap(), parsed.Bits()-96)
	}
	p.Prefix = parsed
	return nil
}

// Secret is a string that does not print: formatting, logging and marshalling show only whether it
// is set.
type Secret string

const redacted = "[redacted]"

// Format writes a placeholder, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, s.mask()) }

// LogValue is the placeholder for slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.mask()) }

// MarshalText is the placeholder for JSON and other encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.mask()), nil }

func (s Secret) mask() string {
	if s == "" {
		return ""
	}
	return redacted
}
