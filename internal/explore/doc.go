// Package explore runs its subject, a scenario or a test, in other orders and with faults. It
// searches for a run that fails, and removes everything that the failure does not need.
package explore
