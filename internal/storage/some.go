package storage

import (
	"context"
	"errors"

	"berth/internal/storage/engine"
)

// GetSome reads records, as Get does each, in as few round trips as there are servers that hold them; so
// it is for those who read many and can wait. What stands nowhere is the zero Record. e is asked for one
// after the other where it can do no better.
func GetSome(ctx context.Context, e Engine, keys []string) ([]Record, error) {
	if several, ok := e.(engine.SomeGetter); ok {
		return several.GetSome(ctx, keys)
	}
	found := make([]Record, len(keys))
	for i, key := range keys {
		record, err := e.Get(ctx, key)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return nil, err
		}
		found[i] = record
	}
	return found, nil
}

// GetSome is GetSome of the package, with each server asked through its breaker.
func (s *Store) GetSome(ctx context.Context, keys []string) ([]Record, error) {
	found := make([]Record, len(keys))
	for part, at := range s.byPart(keys) {
		of := make([]string, len(at))
		for i, place := range at {
			of[i] = keys[place]
		}
		err := s.do(ctx, engine.OpGetSome, part, func(ctx context.Context) error {
			records, err := GetSome(ctx, s.engine, of)
			for i, record := range records {
				found[at[i]] = record
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// byPart are the places of keys, by the server that holds them.
func (s *Store) byPart(keys []string) map[string][]int {
	parts := make(map[string][]int, 1)
	for i, key := range keys {
		part := s.part(key)
		parts[part] = append(parts[part], i)
	}
	return parts
}
