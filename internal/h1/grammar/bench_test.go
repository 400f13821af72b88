package grammar

import "testing"

func BenchmarkIsText(b *testing.B) {
	text := "application/json, text/event-stream"
	b.Run("string", func(b *testing.B) {
		for b.Loop() {
			if !IsText(text) {
				b.Fatal()
			}
		}
	})
	b.Run("bytes", func(b *testing.B) {
		bytes := []byte(text)
		for b.Loop() {
			if !IsText(bytes) {
				b.Fatal()
			}
		}
	})
	b.Run("one by one", func(b *testing.B) {
		for b.Loop() {
			if !isAll(text, inText) {
				b.Fatal()
			}
		}
	})
}
