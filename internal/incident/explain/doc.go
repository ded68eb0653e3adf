// Package explain finds in a trace the volumes that are stuck, the component that holds each of
// them, and the logs that are missing to be sure.
//
// A trace becomes a Story: the operations on volumes with their attempts. Each rule, in a file of
// its own, makes findings of a story. A finding is certain if a line states it. It is likely if a
// log is there and lacks certain lines. Otherwise it is unknown.
package explain
