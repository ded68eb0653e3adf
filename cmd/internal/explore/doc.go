// Package explore searches the runs of a scenario, with other orders and faults, for a run that
// fails. It removes everything from the run that the failure does not need, and stores the rest in
// a file that repeats the run.
package explore
