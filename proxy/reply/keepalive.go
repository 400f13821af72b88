package reply

import "time"

// defaultKeepAlive is Endpoint.KeepAlive where that is 0.
const defaultKeepAlive = 15 * time.Second

// KeepAlive tells when an event stream has been silent for so long that it is to get a
// comment, lest somebody on the way takes it for dead. All streams of berth's have one.
type KeepAlive struct {
	interval time.Duration
	timer    *time.Timer
}

// Due is sent to when a comment is due. The next one is an interval after Said.
func (k *KeepAlive) Due() <-chan time.Time {
	if k == nil {
		return nil
	}
	return k.timer.C
}

// Said notes that the client was sent something.
func (k *KeepAlive) Said() { k.timer.Reset(k.interval) }

// Stop ends the clock.
func (k *KeepAlive) Stop() { k.timer.Stop() }
