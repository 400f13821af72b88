//go:build !unix

package systemd

// monotonic is not asked for where there is no manager.
func monotonic() int64 { return 0 }
