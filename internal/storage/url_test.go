package storage

import (
	"slices"
	"testing"

	"berth/internal/storage/file"
	"berth/internal/storage/redis"
)

// Whatever is written for a URL: what is wrong with it is said in one of the fixed
// sentences, which quote nothing.
func FuzzStoreURL(f *testing.F) {
	for _, seed := range []string{
		"memory:", "redis://:p@h:1/0?db=2", "unix://u:p@/s?db=1", "rediss+sentinel://u:p@h1:1,h2/m/0?sentinel_password=x",
		"redis+cluster://h1,[::1]:2/0?pool_size=3", "redis+sentinel://@/,/", "redis+cluster://,", "file:berth.db", "file:///a/berth.db", "file:?",
	} {
		f.Add(seed)
	}
	_, ofFiles := file.ParseURL("")
	sentences := []error{ofFiles, redis.ErrURL, errScheme, errMemoryURL, redis.ErrRedisURL, redis.ErrSentinelURL, redis.ErrClusterURL, redis.ErrRedisOpt}
	f.Fuzz(func(t *testing.T, raw string) {
		if _, err := parseURL(raw); err != nil && !slices.Contains(sentences, err) {
			t.Errorf("got %v, which is none of the sentences", err)
		}
	})
}

// A URL of a file names that and nothing else.
func TestAFileURLNamesOneFile(t *testing.T) {
	for url, want := range map[string]string{
		"file:berth.db":                  "berth.db",
		"file:./state/../berth.db":       "berth.db",
		"file:/var/lib/berth/berth.db":   "/var/lib/berth/berth.db",
		"file:///var/lib/berth/berth.db": "/var/lib/berth/berth.db",
		"file:/with blank/100%.db":       "/with blank/100%.db",
		"file:":                          "", "file:/": "", "file:state/": "", "file://host/berth.db": "", "file://berth.db": "",
		"file:berth.db?mode=rw": "", "file:berth.db#1": "", "file:a\x00b": "", "file:a\nb": "",
	} {
		if got, err := parseURL(url); got.file != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", url, got.file, err, want)
		}
	}
}
