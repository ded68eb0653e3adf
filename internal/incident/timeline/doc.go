// Package timeline brings the facts of many logs into one order, on disk if they are many, and
// writes them as a trace.
package timeline
