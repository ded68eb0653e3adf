// Package explore searches the runs of a subject, a scenario or a test, under other orders and with
// faults, for one that fails, and removes everything that the failure does not need.
package explore
