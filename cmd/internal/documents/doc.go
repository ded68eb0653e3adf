// Package documents tests the examples of README.md and of the pages, and the files that csisim
// init writes. It runs the examples as a reader would.
package documents
