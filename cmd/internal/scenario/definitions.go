package scenario

import (
	"bytes"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/input/manifest"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/definition/csiaddons"
	_ "github.com/csisim/csisim/internal/world/definition/rule" // checks the rules of definitions
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/sim/expect"
)

// wordOfDefinitions occurs in every text with a definition.
var wordOfDefinitions = []byte("CustomResourceDefinition")

// definedKinds returns the built-in kinds and those that any manifests of a scenario define, so
// that steps can name them. Mistakes in the manifests are reported later, by checkDefinitions.
func definedKinds(document *strict.Document, dir string) expect.Kinds {
	var defined *store.Store
	if mentionsCSIAddons(document, dir) {
		defined = withCSIAddons()
	}
	for _, m := range manifestsIn(document.Root) {
		for _, d := range m.definitions(dir, bytes.Contains(document.Source.Text, wordOfDefinitions)) {
			if defined == nil {
				defined = kind.NewStore(store.Options{})
			}
			_, _ = store.Create(defined, d) // the check of the manifest reports the error
		}
	}
	return expect.KindsIn(defined)
}

// manifestsIn returns the manifests in a scenario's objects and in its steps.
func manifestsIn(root *strict.Node) []Manifests {
	var all []Manifests
	add := func(n *strict.Node) {
		if n != nil {
			var m Manifests
			m.UnmarshalStrict(n)
			all = append(all, m)
		}
	}
	add(root.Value("objects"))
	if steps := root.Value("steps"); steps != nil {
		for _, step := range steps.Items() {
			add(step.Value("apply"))
		}
	}
	return all
}

// definitions returns the definitions among the manifests. inline is set if the scenario's own text
// may contain definitions.
func (m Manifests) definitions(dir string, inline bool) []*apiextensionsv1.CustomResourceDefinition {
	var found []*apiextensionsv1.CustomResourceDefinition
	for _, part := range m.parts {
		var objects []manifest.Object
		if part.file == nil && inline {
			objects, _ = manifest.Decode(part.inline)
		}
		if path, text, err := part.text(dir); err == nil && bytes.Contains(text, wordOfDefinitions) {
			objects, _ = manifest.DecodeText(strict.Source{File: path, Text: text})
		}
		for _, o := range objects {
			if d, ok := o.Object.(*apiextensionsv1.CustomResourceDefinition); ok {
				found = append(found, d)
			}
		}
	}
	return found
}

// mentionsCSIAddons reports whether the scenario or a file with manifests names a group of
// CSI-Addons. In this case their kinds are defined from the start.
func mentionsCSIAddons(document *strict.Document, dir string) bool {
	if csiaddons.Mentions(string(document.Source.Text)) {
		return true
	}
	for _, m := range manifestsIn(document.Root) {
		for _, part := range m.parts {
			if _, text, err := part.text(dir); err == nil && csiaddons.Mentions(string(text)) {
				return true
			}
		}
	}
	return false
}

// withCSIAddons returns a store that contains only the definitions of CSI-Addons.
func withCSIAddons() *store.Store {
	s := kind.NewStore(store.Options{})
	for _, d := range csiaddons.All() {
		_, _ = store.Adopt(s, d) // a test makes sure that each definition is valid
	}
	return s
}
