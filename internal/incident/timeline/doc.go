// Package timeline sorts the facts of many logs by time, on disk if there are many, and writes them
// as a trace.
package timeline
