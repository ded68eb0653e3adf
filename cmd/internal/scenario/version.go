package scenario

import (
	"strings"

	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/version"
)

// Version is a version of Kubernetes; 0 is the default.
type Version version.Version

// Wanted names the known versions.
func (Version) Wanted() string {
	return `a version of Kubernetes such as "1.36", one of ` + version.Names()
}

// UnmarshalStrict reads the version, with or without quotes.
func (v *Version) UnmarshalStrict(n *strict.Node) {
	text, ok := n.Text()
	if !ok {
		text = strings.TrimPrefix(n.Found(), "number ")
	}
	known, err := version.Parse(text)
	if err != nil {
		n.ReportWrong(v.Wanted())
	}
	*v = Version(known)
}

// JSONSchema allows both forms, except numbers that end in 0.
func (Version) JSONSchema() map[string]any {
	var all []any
	for _, v := range version.All() {
		all = append(all, v.String())
	}
	return map[string]any{"enum": append(all, 1.36)}
}
