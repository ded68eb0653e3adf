// Package scenario implements csisim's scenario language and its runner. A scenario is one YAML
// file with a cluster, its drivers, manifests, steps, and the expectations of the run. [Load] reads
// it and reports all mistakes at once, [Run] runs it.
//
// To add a kind of step, add a file that registers a type. Tags of the type describe the step's
// fields. The decoder, the JSON Schema and the documentation are derived from them.
package scenario
