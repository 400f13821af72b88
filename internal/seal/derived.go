package seal

import "context"

// Key returns size bytes that every berth of the deployment derives for this use, and
// nobody else can. Another secret in the store makes other bytes: see [Keyring.Refresh].
// The error wraps storage.ErrUnavailable: there is no secret yet, and the store cannot
// be asked for it.
func (k *Keyring) Key(ctx context.Context, use string, size int) ([]byte, error) {
	s := k.known()
	if s == nil {
		var err error
		if s, err = k.fetch(ctx); err != nil {
			return nil, err
		}
	}
	return derive(s.secret, nil, "berth key: "+use, size), nil
}

// Refresh takes over the secret that stands in the store, and puts this berth's own
// there if the store has lost it. A secret that was given needs neither.
func (k *Keyring) Refresh(ctx context.Context) error {
	if k.store == nil {
		return nil
	}
	_, err := k.fetch(ctx)
	return err
}

// Given reports whether the secret was given, and so stands in no store: only then is
// what it seals safe from those who read the store.
func (k *Keyring) Given() bool { return k.store == nil }
