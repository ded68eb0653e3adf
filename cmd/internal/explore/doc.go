// Package explore searches the runs of a scenario, under other orders and with faults, for
// one that fails, takes away from it what the failure does not need, and keeps the rest in a
// file that makes the same run again.
package explore
