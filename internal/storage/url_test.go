package storage

import (
	"slices"
	"testing"

	"berth/internal/storage/redis"
)

// Whatever is written for a URL: what is wrong with it is said in one of the fixed
// sentences, which quote nothing.
func FuzzStoreURL(f *testing.F) {
	for _, seed := range []string{
		"memory:", "redis://:p@h:1/0?db=2", "unix://u:p@/s?db=1", "rediss+sentinel://u:p@h1:1,h2/m/0?sentinel_password=x",
		"redis+cluster://h1,[::1]:2/0?pool_size=3", "redis+sentinel://@/,/", "redis+cluster://,",
	} {
		f.Add(seed)
	}
	sentences := []error{redis.ErrURL, errScheme, errMemoryURL, redis.ErrRedisURL, redis.ErrSentinelURL, redis.ErrClusterURL, redis.ErrRedisOpt}
	f.Fuzz(func(t *testing.T, raw string) {
		if _, err := parseURL(raw); err != nil && !slices.Contains(sentences, err) {
			t.Errorf("got %v, which is none of the sentences", err)
		}
	})
}
