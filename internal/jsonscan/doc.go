// Package jsonscan walks a JSON text once, in order, without a copy, an allocation or a tree: what it hands
// out are views of the text, and what nobody asks for is passed over in wide steps.
//
// It takes what RFC 8259 takes, nested 10,000 deep at most, and nothing else. It judges neither names (the
// same may stand in an object twice) nor encoding: bytes beyond ASCII are taken as they are, so whoever
// needs UTF-8 has to look for it, once for a whole text that is not all ASCII (utf8.Valid). A text that ends
// too early is told from one that is wrong (io.ErrUnexpectedEOF, a [SyntaxError]), for those who read only a
// beginning.
//
// Strings are passed over eight bytes a step, long ones 32, and numbers and literals checked where they stand. Members of
// an object that the caller does not open cost one pass over their bytes.
package jsonscan
