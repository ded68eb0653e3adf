// Package check tests a driver against the call sequences and failures that Kubernetes can cause.
// It determines the driver's capabilities, composes the scenarios that apply, runs them side by
// side and writes a report card. A user can print, keep and run each composed scenario.
package check
