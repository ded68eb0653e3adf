// Package conformance says which cases of Kubernetes' own suites are pinned by
// which test. A test says so itself, in the comment above it:
//
//	// conformance: unit-stage-ok, unit-publish-request-ok
//
// A case that nothing here can pin has its reason in testdata/reasons.yaml.
//
// It lists as well which rules of behaviour are implemented and pinned where.
// Code, tests and scenarios say so by naming the rule, "C-ADC-24" or
// "K-PUB-1..4"; in a test file what counts is named in or above a test, or in
// or above the variables that are its table. A rule that nothing pins has its
// reason in testdata/rules-reasons.yaml; testdata/rules-pending.txt lists those
// that nobody has come to yet.
package conformance
