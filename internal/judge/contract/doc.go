// Package contract holds the calls between Kubernetes and a CSI driver against the CSI spec: is
// the driver's answer one that the spec promises, and is our own request one that it allows?
//
// The checks are pure functions of one call and of the capabilities that the driver has declared.
// Rules about the history of a volume (staged before published, and the like) are invariants over
// the trace, not a matter of this package.
package contract
