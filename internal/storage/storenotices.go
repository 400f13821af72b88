package storage

import "context"

// Notify implements Engine.
func (s *Store) Notify(ctx context.Context, topic, message string) error {
	return s.do(ctx, opNotify, s.part(topic), func(ctx context.Context) error { return s.engine.Notify(ctx, topic, message) })
}

// Watch implements Engine. It goes past the breaker: an outage is what it waits out, and
// of its end the probes tell.
func (s *Store) Watch(ctx context.Context, topic string, heard func(message string)) error {
	watching, end := context.WithCancel(ctx)
	defer end()
	go func() {
		defer end()
		select {
		case <-s.ended:
		case <-watching.Done():
		}
	}()
	err := s.engine.Watch(watching, topic, heard)
	if err == nil && ctx.Err() == nil {
		return closedFault(opWatch)
	}
	return err
}
