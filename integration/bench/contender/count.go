package contender

import "fmt"

// count is n of a thing, in words that are short: "1 core", "10 k tasks", "1 M tasks".
func count(n int, thing string) string {
	number := fmt.Sprint(n)
	switch {
	case n >= 1_000_000 && n%1_000_000 == 0:
		number = fmt.Sprintf("%d M", n/1_000_000)
	case n >= 1_000 && n%1_000 == 0:
		number = fmt.Sprintf("%d k", n/1_000)
	}
	if n != 1 {
		thing += "s"
	}
	return number + " " + thing
}
