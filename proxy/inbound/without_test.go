package inbound

import (
	"fmt"
	"strings"
	"testing"

	"berth/internal/wire"
)

// BenchmarkWithout shows that each of many cookies costs what each of few does.
func BenchmarkWithout(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		var cookie strings.Builder
		for i := range n {
			fmt.Fprintf(&cookie, "%x;", i)
		}
		h := wire.NewHeader("Cookie", cookie.String())
		all := credentialsIn(h, "", nil, false)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				Without(all, h.Clone(), "")
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/cookie")
		})
	}
}
