package relay

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/exchange"
	"berth/internal/renewal"
	"berth/internal/seal"
	"berth/internal/storage"
	"berth/internal/wire"
)

// Bounds of a mailbox.
const (
	// MaxBody is the size of the largest body of a request, in bytes.
	MaxBody = 4 << 20
	// MaxServed is how many requests of others a mailbox has answered at a time.
	MaxServed = 1000
	// maxOffers may lie in an inbox; their senders get ErrBusy if it is full.
	maxOffers = MaxServed
)

const (
	// leaseLife is how long a berth that gives no sign of life is taken to be there. It renews its
	// lease, and looks at those of others, three times as often.
	leaseLife = 15 * time.Second
	// exchangeLife is how long an exchange stays in the store after its last sign of life: longer
	// than a client may pause in reading an answer, or the store be away.
	exchangeLife = 10 * time.Minute
	// sealLife is longer than anything stays in the store by as much as the clocks of berths may
	// differ.
	sealLife = exchangeLife + time.Hour
	// storeTime bounds a step of several operations that nobody but the store is waiting for.
	storeTime = 5 * time.Second
)

// Store is what is asked of a *storage.Store.
type Store interface {
	storage.Engine
	Shared() bool
}

// Handle answers a request that another berth passed on. ctx ends when nobody waits for the answer
// any more, its body's end at the latest, which is closed in any case. A *exchange.SendError, or what
// wraps one, reaches the sender with its marks, and as ErrGone if it is that and not Sent; any other error as one that may have been
// executed.
type Handle func(ctx context.Context, request *exchange.Request) (*wire.Response, error)

// Mailbox is one process's part in passing requests on. It is used by many goroutines at once.
type Mailbox struct {
	store Store
	name  string
	keys  *seal.Keyring
	log   *slog.Logger
	life  time.Duration // of a lease
	lease *renewal.Record

	open   openExchanges
	peers  peers
	unsaid backlog
	left   atomic.Bool  // Run has ended
	busy   atomic.Int64 // answers to others under way

	mu    sync.Mutex // guards the fields below
	until time.Time  // when the lease runs out, at the earliest; zero: there was none yet
	asked time.Time  // when it was asked last whether another's lease could be renewed
	lost  time.Time  // when it was found last that the store had lost the lease, or did not take it; zero: it never had
}

// New returns a mailbox at a store. name is this process's alone, and nobody can guess it; if it is
// "", one is made. keys are the deployment's.
func New(store Store, name string, keys *seal.Keyring, log *slog.Logger) *Mailbox {
	if name == "" {
		name = rand.Text()
	}
	return &Mailbox{store: store, name: name, keys: keys, log: log, life: leaseLife, lease: renewal.NewRecord(store, leaseKey(name), leaseLife)}
}

// Name is what others pass requests to.
func (m *Mailbox) Name() string { return m.name }

// Serving is how many requests of other berths are being answered.
func (m *Mailbox) Serving() int { return int(m.busy.Load()) }

// Run has handle answer what others pass on, and hears what becomes of what is passed to others, until
// ctx ends; then it calls off both and waits for the calls of handle. Without it Pass gets answers
// late, and only until others find that this berth gives no sign of life. Call it once. It returns
// nil. Where nobody shares the store it touches nothing.
func (m *Mailbox) Run(ctx context.Context, handle Handle) error {
	if !m.store.Shared() {
		<-ctx.Done()
		return nil
	}
	s := newServer(m, handle)
	var hearing sync.WaitGroup
	hearing.Go(func() { m.beat(ctx) })
	hearing.Go(func() { s.look(ctx) })
	hearing.Go(func() { s.watch(ctx) })
	hearing.Wait()
	m.left.Store(true)
	m.open.endAll(errLeft)
	s.running.Wait()
	m.resign()
	return nil
}

// seal seals text for the berths of the deployment, as that which about says.
func (m *Mailbox) seal(ctx context.Context, purpose string, about []string, text []byte) ([]byte, error) {
	token, err := m.keys.Seal(ctx, purpose, about, text, sealLife)
	return []byte(token), err
}

// What is sealed, and about what: the berths that it goes to and comes from, and the exchange; the
// exchange, and which part it is.
const (
	sealedRequest = "relayed request"
	sealedPart    = "relayed part"
)

// aside is a context for what has to be done though ctx has ended.
func aside(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), storeTime)
}
