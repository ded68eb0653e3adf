// Package check puts a driver through all that Kubernetes may do to it. It determines the driver's
// capabilities, composes the scenarios that apply, runs them side by side and draws up a report
// card. Each composed scenario is an ordinary one, which a user can print, keep and run.
package check
