package storage

import (
	"context"
	"time"

	"go.etcd.io/bbolt"
)

func (e *fileEngine) Enlist(ctx context.Context, list, member string, ttl time.Duration, most int) error {
	key := memberKey(list, member)
	var full error
	err := e.write(ctx, opEnlist, string(key), func(tx *bbolt.Tx, now time.Time) (bool, error) {
		full = nil
		before, found, err := loadMember(tx, key)
		if err != nil || found && before.live(now) {
			return false, err
		}
		if most > 0 {
			standing, err := liveMembers(tx, list, now)
			if err != nil {
				return false, err
			}
			if len(standing) >= most {
				full = ErrFull
				return false, nil
			}
		}
		if found {
			if err := removeMember(tx, key, before); err != nil {
				return false, err
			}
		}
		return true, writeMember(tx, key, now, ttl)
	})
	if err != nil {
		return err
	}
	return full
}

func (e *fileEngine) Delist(ctx context.Context, list, member string) error {
	key := memberKey(list, member)
	return e.write(ctx, opDelist, string(key), func(tx *bbolt.Tx, _ time.Time) (bool, error) {
		before, found, err := loadMember(tx, key)
		if err != nil || !found {
			return false, err
		}
		return true, removeMember(tx, key, before)
	})
}

func (e *fileEngine) Members(_ context.Context, list string) ([]string, error) {
	var standing []fileMember
	err := guarded(func() error {
		return e.db.View(func(tx *bbolt.Tx) (err error) {
			standing, err = liveMembers(tx, list, time.Now())
			return err
		})
	})
	if err != nil {
		return nil, fileFault(opMembers, err)
	}
	var members []string
	for _, member := range standing {
		members = append(members, member.name)
	}
	return members, nil
}

func (e *fileEngine) Notify(_ context.Context, topic, message string) error {
	e.notices.notify(topic, message)
	return nil
}

func (e *fileEngine) Watch(ctx context.Context, topic string, heard func(string)) error {
	e.notices.watch(ctx, topic, heard)
	return nil
}
