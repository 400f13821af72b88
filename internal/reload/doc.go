// Package reload keeps what was read from files, and reads it anew when they change.
//
// What is in use was whole and good when it was read: a file that is gone, half
// written or wrong leaves what was there before in use, which is logged once, counted,
// and told until it is mended. Files that belong together, as a certificate and its
// key do, are read and judged together.
//
// Files are compared by what they hold and not by their time: they are small, and a
// time says little where files are put in place by a link or copied with their times.
// A change is seen within [Every].
package reload
