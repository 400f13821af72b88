//go:build e2e

package integration

// Tests of the long tier wait for a good part of their time: for a lease, an outage, a process that
// starts. Half as many again as there are processors keep these busy.
func init() { atOnce += (atOnce + 1) / 2 }
