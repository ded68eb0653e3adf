// Package documents has the tests that run the examples of README.md and of the pages, and the
// files that csisim init writes, as a reader does.
package documents
