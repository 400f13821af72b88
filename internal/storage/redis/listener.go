package redis

import (
	"context"
	"crypto/rand"
	"errors"
	"strconv"
	"time"

	"berth/internal/storage/engine"

	"github.com/redis/go-redis/v9"
)

// echoEvery is how often a listener that hears nothing calls to itself by way of the server. One
// that has not received itself by the next time is deaf, whatever its connection looks like: a frozen
// server, or a master that was replaced and lives on.
const echoEvery = time.Second

var errDeaf = errors.New("notices do not arrive")

type listener struct {
	*single
	topic    string
	echo     string // the topic on which it calls to itself
	received func(string)

	subscribed bool
	called     bool // and has received nothing since
	next       time.Time
}

func (r *single) newListener(topic string, received func(string)) *listener {
	return &listener{single: r, topic: topic, echo: topic + ":echo:" + rand.Text(), received: received}
}

// listen connects, and listens until ctx ends or the connection is no good any more.
func (l *listener) listen(ctx context.Context) error {
	subscription := l.client.Subscribe(ctx)
	defer subscription.Close()
	// The driver's reads heed deadlines, not cancellations.
	defer context.AfterFunc(ctx, func() { _ = subscription.Close() })()
	if err := l.subscribe(ctx, subscription); err != nil {
		return err
	}
	for {
		// One that is late still takes in what has come.
		said, err := subscription.ReceiveTimeout(ctx, max(time.Until(l.next), time.Millisecond))
		silent := isTimeout(err)
		switch {
		case err == nil:
			l.take(said)
		case !silent || ctx.Err() != nil:
			return err
		case l.called:
			return errDeaf
		}
		if silent || time.Now().After(l.next) {
			if err := l.call(ctx); err != nil {
				return err
			}
		}
	}
}

// subscribe asks for both topics. The server's word that it has them is the first echo.
func (l *listener) subscribe(ctx context.Context, subscription *redis.PubSub) error {
	ctx, cancel := context.WithTimeout(ctx, l.bound)
	defer cancel()
	l.await()
	return subscription.Subscribe(ctx, l.channel(l.topic), l.channel(l.echo))
}

func (l *listener) call(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, l.bound)
	defer cancel()
	l.await()
	return l.publish(ctx, l.echo, "")
}

func (l *listener) await() { l.called, l.next = true, time.Now().Add(max(echoEvery, l.bound)) }

func (l *listener) take(said any) {
	switch said := said.(type) {
	case *redis.Subscription:
		if said.Count == 2 { // both topics
			l.subscribed, l.called = true, false
			l.received("")
		}
	case *redis.Message:
		l.called = false
		if said.Channel == l.channel(l.topic) {
			l.received(said.Payload)
		}
	}
}

// watchAgain and watchAgainMost bound the pause before a watcher connects anew.
const (
	watchAgain     = 50 * time.Millisecond
	watchAgainMost = time.Second
)

func (r *single) Notify(ctx context.Context, topic, message string) error {
	return r.ask(ctx, engine.OpNotify, func(ctx context.Context) error { return r.publish(ctx, topic, message) })
}

// publish tells message to the topic's subscribers, by way of the node whose breaker is asked.
func (r *single) publish(ctx context.Context, topic, message string) error {
	cmd := redis.NewIntCmd(ctx, "publish", r.channel(topic), message)
	cmd.SetFirstKeyPos(1)
	return r.client.Process(ctx, once{cmd})
}

// channel is where a topic is spoken of. Databases do not separate channels; names do.
func (r *single) channel(topic string) string {
	if db := r.servers.options.DB; db != 0 {
		return r.prefix + strconv.Itoa(db) + ":" + topic
	}
	return r.prefix + topic
}

func (r *single) Watch(ctx context.Context, topic string, received func(string)) error {
	pause := watchAgain
	for ctx.Err() == nil {
		l := r.newListener(topic, received)
		_ = l.listen(ctx) // the probes tell of an outage
		if r.relocate != nil {
			r.relocate()
		}
		if l.subscribed {
			pause = watchAgain
			if ctx.Err() == nil {
				received("")
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, watchAgainMost)
	}
	return nil
}
