// Package view turns a trace into a page that shows it in a browser: the same page for the
// report of a run, for a recorded trace and for a live cluster.
//
// The page gets a trace in chunks. A chunk has columns, small numbers from which lanes,
// filters and the state of objects are made, and details, the lines of the trace with
// their words, which the page unpacks when somebody looks at them. States, what processes
// wait for and what caches learn late, stand between the events and are replayed when
// somebody asks for an instant. web holds what runs in the browser.
package view
