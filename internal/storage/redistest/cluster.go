package redistest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"testing"

	"berth/internal/realtest"
)

const (
	slots = 16384

	// NodeTimeout is after how many milliseconds a cluster's nodes take one for dead.
	NodeTimeout = 2000

	// busOffset is how far above a node's port its nodes' bus listens. Both must lie
	// below the ports that the kernel gives out.
	busOffset         = 10_000
	lowPort, highPort = 11_000, 22_000
	lookForPortAtMost = 100
	migrateWithin     = "5000" // milliseconds
)

// Cluster is a Redis Cluster on the loopback interface.
type Cluster struct {
	// Nodes are the masters and then their replicas.
	Nodes []*Server

	t    testing.TB
	args []string
}

// StartCluster starts a cluster whose masters hold equal shares of the slots and have
// as many replicas each, and waits until all nodes find it whole. args are added to
// the command lines of all nodes.
func StartCluster(t testing.TB, masters, replicas int, args ...string) *Cluster {
	t.Helper()
	c := &Cluster{t: t, args: append(args, syncAtOnce...)}
	for range masters * (1 + replicas) {
		c.AddNode()
	}
	for i, node := range c.Nodes[:masters] {
		node.want("OK", "CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1))
		node.want("OK", append([]string{"CLUSTER", "ADDSLOTS"}, share(i, masters)...)...)
	}
	c.meet(c.Nodes[1:]...)
	for i, node := range c.Nodes[masters:] {
		node.want("OK", "CLUSTER", "REPLICATE", c.Nodes[i%masters].id())
	}
	for _, master := range c.Nodes[:masters] {
		master.awaitReplicas(replicas)
	}
	return c
}

// share are the slots of the i-th of n masters.
func share(i, n int) []string {
	var mine []string
	for slot := i * slots / n; slot < (i+1)*slots/n; slot++ {
		mine = append(mine, strconv.Itoa(slot))
	}
	return mine
}

// AddNode starts one more node. It belongs to no cluster before it is met.
func (c *Cluster) AddNode() *Server {
	c.t.Helper()
	node := &Server{t: c.t, Dir: c.t.TempDir(), args: append([]string{
		"--cluster-enabled", "yes", "--cluster-node-timeout", strconv.Itoa(NodeTimeout)}, c.args...)}
	node.start(func() string { return freeAddrWithBus(c.t) })
	c.Nodes = append(c.Nodes, node)
	return node
}

// Join makes a node that was added one of the cluster, without slots.
func (c *Cluster) Join(node *Server) {
	c.t.Helper()
	c.meet(node)
}

// meet introduces nodes to the first one, and waits until all know all.
func (c *Cluster) meet(nodes ...*Server) {
	c.t.Helper()
	for _, node := range nodes {
		node.want("OK", "CLUSTER", "MEET", c.Nodes[0].host(), c.Nodes[0].port())
	}
	known := fmt.Sprintf("cluster_known_nodes:%d\r\n", len(c.Nodes))
	realtest.Eventually(c.t, "all nodes know each other and their slots", func() bool {
		return c.all(known) && c.all("cluster_state:ok")
	})
}

func (c *Cluster) all(state string) bool {
	for _, node := range c.Nodes {
		if !strings.Contains(node.Do("CLUSTER", "INFO"), state) {
			return false
		}
	}
	return true
}

// URL is a store URL that names all nodes.
func (c *Cluster) URL() string { return "redis+cluster://" + addresses(c.Nodes) }

// Slot is where a key lives.
func (c *Cluster) Slot(key string) int {
	c.t.Helper()
	slot, err := strconv.Atoi(strings.TrimPrefix(c.Nodes[0].Do("CLUSTER", "KEYSLOT", key), ":"))
	if err != nil {
		c.t.Fatalf("slot of %q: %v", key, err)
	}
	return slot
}

// Migrate begins to move a slot: keys that are not at its owner any more are asked for
// at the other node from now on.
func (c *Cluster) Migrate(slot int, from, to *Server) {
	c.t.Helper()
	to.want("OK", "CLUSTER", "SETSLOT", strconv.Itoa(slot), "IMPORTING", from.id())
	from.want("OK", "CLUSTER", "SETSLOT", strconv.Itoa(slot), "MIGRATING", to.id())
}

// MoveKey moves one key of a slot that is being migrated.
func (c *Cluster) MoveKey(key string, from, to *Server) {
	c.t.Helper()
	answer := from.Do("MIGRATE", to.host(), to.port(), key, "0", migrateWithin)
	if answer != "+OK" && answer != "+NOKEY" {
		c.t.Fatalf("MIGRATE %q: %s", key, answer)
	}
}

// Moved ends the move of a slot.
func (c *Cluster) Moved(slot int, from, to *Server) {
	c.t.Helper()
	for _, node := range []*Server{to, from} {
		node.want("OK", "CLUSTER", "SETSLOT", strconv.Itoa(slot), "NODE", to.id())
	}
}

// Move moves a slot and all its keys from one node to another.
func (c *Cluster) Move(slot int, from, to *Server) {
	c.t.Helper()
	c.Migrate(slot, from, to)
	for {
		keys := from.strings("CLUSTER", "GETKEYSINSLOT", strconv.Itoa(slot), "100")
		for _, key := range keys {
			c.MoveKey(key, from, to)
		}
		if len(keys) == 0 {
			break
		}
	}
	c.Moved(slot, from, to)
}

// id is the node's name among its peers.
func (s *Server) id() string {
	s.t.Helper()
	return s.Do("CLUSTER", "MYID")
}

// want fails the test unless the server answers a command with that status.
func (s *Server) want(status string, args ...string) {
	s.t.Helper()
	if answer := s.Do(args...); answer != "+"+status {
		s.t.Fatalf("%.80v: got %s, want %s", args, answer, status)
	}
}

// freeAddrWithBus finds a port that is free like the one of its bus.
func freeAddrWithBus(t testing.TB) string {
	t.Helper()
	for range lookForPortAtMost {
		port := lowPort + rand.IntN(highPort-lowPort)
		if free(port) && free(port+busOffset) {
			return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		}
	}
	t.Fatal("no two free ports that lie as far apart as a cluster's nodes need")
	return ""
}

func free(port int) bool {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	_ = listener.Close()
	return true
}
