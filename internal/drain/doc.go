// Package drain says whether an upstream may stop: it keeps the marks that operators set, tells
// what each upstream owns and what is under way there, and when nothing of that can be lost.
//
// It promises: a mark that Set returned nil for is in the store, so that it outlives every berth;
// each berth that reaches the store goes by it within HeardWithin, and says so. A mark goes with an order
// where no berth has had its upstream for a month. An upstream is Drained only if every berth that was
// alive in the last reportLife says that it goes by the mark and has nothing under way there, and the
// store, asked after that, counts nothing that it owns. Counts may be too high for a while, and are
// not too low.
//
// It does not promise anything of a berth that the store does not hear of for longer, of what the
// store lost, or of values that keep calls together (affinity), which go elsewhere when their
// upstream is gone.
//
// Cost: one small write of each berth every five seconds, each second while anything drains, and as
// many reads as pools; two reads an upstream every five seconds for the gauges. Requests cost
// nothing.
package drain
