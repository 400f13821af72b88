// Package build says which berth this is. It depends on nothing, so that whatever names
// berth to others can say its version.
package build

// Version is berth's version; CHANGELOG.md tells what is in it.
const Version = "0.13.0"

// Revision is the commit that a release was built from, which its build says (-ldflags=-X). Empty: the build info of
// the program may know.
var Revision string
