package engine

import "time"

// Rate is how often something may be done: Count times in Period, and Burst times at once.
type Rate struct {
	Count  int
	Period time.Duration
	Burst  int
}
