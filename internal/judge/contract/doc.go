// Package contract compares the calls between Kubernetes and a CSI driver to the CSI spec: the
// answers of the driver, and the requests of csisim.
//
// The checks are pure functions of one call and of the capabilities that the driver has declared.
// Rules about the history of a volume, such as staging before publishing, are invariants of the
// trace, in package calls.
package contract
