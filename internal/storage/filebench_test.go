package storage_test

import (
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"berth/internal/storage"
)

// bindingBytes is about what a task's binding takes.
const bindingBytes = 130

// What a write costs alone, and what it costs those who write at the same time; and how
// large the file becomes.
func BenchmarkFilePutIfAbsent(b *testing.B) {
	for _, writers := range []int{1, 16, 256} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			path, url := inFile(b)
			s, err := storage.Open(url, storage.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			var made atomic.Int64
			value := make([]byte, bindingBytes)
			b.SetParallelism(writers)
			b.ReportAllocs()
			b.RunParallel(func(each *testing.PB) {
				for each.Next() {
					key := fmt.Sprintf("task:%027d", made.Add(1)*2654435761%1e12)
					if _, _, err := s.PutIfAbsent(b.Context(), key, value, longLife); err != nil {
						b.Error(err)
						return
					}
				}
			})
			info, err := os.Stat(path)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
			b.ReportMetric(float64(info.Size())/float64(made.Load()), "B/record")
		})
	}
}

func BenchmarkFileGet(b *testing.B) {
	_, url := inFile(b)
	s, err := storage.Open(url, storage.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	if err := s.Put(b.Context(), "k", make([]byte, bindingBytes), longLife); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Get(b.Context(), "k"); err != nil {
			b.Fatal(err)
		}
	}
}
