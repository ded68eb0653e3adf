// Package conformance tells which cases of Kubernetes' own suites are pinned by
// which test. A test says so itself, in the comment above it:
//
//	// conformance: unit-stage-ok, unit-publish-request-ok
//
// A case that nothing here can pin has its reason in testdata/reasons.yaml.
package conformance
