// Package check puts a driver through all that Kubernetes may do to it: it asks
// the driver what it can do, composes the scenarios that apply, runs them side by
// side and draws up a report card. Each composed scenario is an ordinary one, which
// a user can print, keep and run.
package check
