// Package documents tests the examples of README.md and of the pages, and the files that csisim
// init writes. It runs them like a reader.
package documents
