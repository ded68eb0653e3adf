// Package messages recognizes the messages of Kubernetes, its sidecars and CSI drivers in logs.
//
// Each program has a file with a table of patterns. A pattern is the text of a message with the
// names of fields in braces, as in `Multi-Attach error for volume "{pv}"`. To add a message, add a
// line to the table of its program, with the file of the program's source that prints the message.
package messages
