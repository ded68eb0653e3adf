// Package view turns a trace into a page for a browser. The same page shows the report of a run, a
// recorded trace, and a live cluster.
//
// The page gets a trace in chunks. A chunk has columns and details. Columns are small numbers from
// which the page derives lanes, filters and the state of objects. Details are the lines of the
// trace, which the page unpacks when it shows them. States are between the events: the waits of
// processes, and the changes that caches have not received yet. They are replayed when the page
// shows an instant. The folder web contains the code for the browser.
package view
