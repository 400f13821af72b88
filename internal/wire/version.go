package wire

import "strconv"

// Version is a version of HTTP as messages name it.
func Version(major, minor int) string {
	return strconv.Itoa(major) + "." + strconv.Itoa(minor)
}
