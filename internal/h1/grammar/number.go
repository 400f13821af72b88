package grammar

// maxDigits keeps a number below 1<<60 in any base; leading zeros count.
const maxDigits = 15

// Number reads a number that is digits alone, of a base up to 16.
func Number(text []byte, base int64) (n int64, ok bool) {
	if len(text) == 0 || len(text) > maxDigits {
		return 0, false
	}
	for _, c := range text {
		var digit int64
		switch c = lower(c); {
		case '0' <= c && c <= '9':
			digit = int64(c - '0')
		case 'a' <= c && c <= 'f':
			digit = int64(c-'a') + 10
		default:
			return 0, false
		}
		if digit >= base {
			return 0, false
		}
		n = n*base + digit
	}
	return n, true
}
