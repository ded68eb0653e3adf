// Package view turns a trace into a page that shows it in a browser: the same page for the report
// of a run, for a recorded trace and for a live cluster.
//
// The page gets a trace in chunks. A chunk has columns with small numbers, from which lanes,
// filters and the state of objects are derived, and details, the lines of the trace with their
// words, which the page unpacks when it shows them. States lie between the events: the waits of
// processes, and the changes that caches have not seen yet. They are replayed when the page shows
// an instant. The folder web contains the code for the browser.
package view
