// Package scenario is csisim's scenario language and its runner. A scenario is one YAML file: a cluster,
// its drivers, manifests, steps, and what is expected of the run. [Load] reads it and reports all mistakes at
// once, [Run] runs it.
//
// To add a kind of step, add a file: it registers a type whose tags describe its fields. The decoder, the
// JSON Schema and the documentation follow from there.
package scenario
