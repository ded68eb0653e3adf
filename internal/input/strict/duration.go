package strict

import (
	"strings"
	"time"
)

// Duration is a span of virtual or wall time. In a file it is a text such as "90s" or "6m". It is
// never negative.
type Duration struct{ time.Duration }

// Wanted describes the valid texts.
func (Duration) Wanted() string { return `a duration such as "90s" or "6m"` }

// UnmarshalStrict reads the text. It rejects a number without a unit.
func (d *Duration) UnmarshalStrict(n *Node) {
	n.decodeDuration(&d.Duration)
}

// decodeDuration reads Go's own type in the same way.
func (n *Node) decodeDuration(into *time.Duration) {
	text, ok := n.Text()
	span, err := time.ParseDuration(text)
	if !ok || err != nil || strings.HasPrefix(text, "-") {
		n.ReportWrong(Duration{}.Wanted())
		return
	}
	*into = span
}

// MarshalText writes the duration in the form of a file.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// JSONSchema describes a string of numbers with units.
func (Duration) JSONSchema() map[string]any {
	return map[string]any{
		"type":    "string",
		"pattern": `^\+?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`,
	}
}
