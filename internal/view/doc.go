// Package view turns a trace into a page that shows it in a browser: the same page for the report
// of a run, for a recorded trace and for a live cluster.
//
// The page gets a trace in chunks. A chunk has columns and details. Columns are small numbers from
// which the page derives lanes, filters and the state of objects. Details are the lines of the
// trace, which the page unpacks when it shows them. States lie between the events: the waits of
// processes, and the changes that caches have not seen yet. They are replayed when the page shows
// an instant. The folder web contains the code for the browser.
package view
