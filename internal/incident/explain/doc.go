// Package explain finds stuck volumes in a trace, the component that holds each of them, and the
// missing logs that would confirm this.
//
// A trace becomes a Story: the operations on volumes with their attempts. Each rule, in a separate
// file, derives findings from a story. A finding is certain if a line states it. It is likely if a
// log exists but lacks certain lines. Otherwise it is unknown.
package explain
