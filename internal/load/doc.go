// Package load measures a driver under load: the calls that it answers, the stages in the life of
// its volumes and the resources of its programs, in relation to the number of volumes. Findings,
// comparisons and reports are functions of a Result.
package load
