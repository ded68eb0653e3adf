// Package explore searches the runs of a scenario, under other orders and with faults, for one that
// fails. It removes everything that the failure does not need, and stores the rest in a file that
// repeats the run.
package explore
