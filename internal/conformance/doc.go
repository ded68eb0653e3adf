// Package conformance lists which tests pin which cases of Kubernetes' own suites. A test names its
// cases in the comment above it:
//
//	// conformance: unit-stage-ok, unit-publish-request-ok
//
// A case that no test here can pin has a reason in testdata/reasons.yaml.
//
// The package also lists which rules of behaviour are implemented and pinned, and where. Code,
// tests and scenarios name the rule, "C-ADC-24" or "K-PUB-1..4". In a test file a citation counts
// in a test or above it, and in a table of variables or above it. A rule that no test pins has its
// reason in testdata/rules-reasons.yaml. testdata/rules-pending.txt lists rules without a decision.
package conformance
