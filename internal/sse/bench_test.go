package sse

import (
	"io"
	"strings"
	"testing"
)

func BenchmarkReader(b *testing.B) {
	progress := "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":1,\"progress\":1}}\n\n"
	for name, stream := range map[string]string{
		"small events": strings.Repeat(progress, 10_000),
		"a long line":  "data: " + strings.Repeat("x", 8<<20) + "\n\n",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(stream)))
			for b.Loop() {
				er := NewReader(strings.NewReader(stream), maxHeld)
				for {
					if _, err := er.Next(); err == io.EOF {
						break
					}
				}
			}
		})
	}
}
