// Package load presents the results of loads: as text, as JSON with summaries, as JUnit and as a
// page for a browser. It compares results, and judges conditions on them.
package load
