package scenario

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/csisim/csisim/sim/scenario/manifest"
	"github.com/csisim/csisim/sim/scenario/strict"
)

// Manifests are Kubernetes objects as a scenario holds them: an object, a text block with any number of
// them, {file: path}, or a list of these.
type Manifests struct{ parts []manifestPart }

type manifestPart struct {
	inline strict.Raw
	file   *strict.Node
}

// UnmarshalStrict keeps the objects as they stand; they are read when the scenario is checked.
func (m *Manifests) UnmarshalStrict(n *strict.Node) {
	if n.IsList() {
		for _, item := range n.Items() {
			m.add(item)
		}
		return
	}
	m.add(n)
}

func (m *Manifests) add(n *strict.Node) {
	var part manifestPart
	if n.IsMap() && n.Value("file") != nil && n.Value("kind") == nil {
		part.file = n.Value("file")
		var known struct {
			File string `json:"file" want:"required" example:"manifests/pod.yaml"`
		}
		n.Decode(&known)
	} else {
		n.Decode(&part.inline)
	}
	m.parts = append(m.parts, part)
}

// JSONSchema allows the forms.
func (Manifests) JSONSchema() map[string]any {
	one := []any{map[string]any{"type": "string"}, map[string]any{"type": "object"}}
	return map[string]any{"anyOf": append(one, map[string]any{"type": "array", "items": map[string]any{"anyOf": one}})}
}

// read decodes all objects; files are relative to dir.
func (m Manifests) read(dir string) ([]manifest.Object, strict.Problems) {
	var objects []manifest.Object
	var problems strict.Problems
	for _, part := range m.parts {
		more, wrong := part.read(dir)
		objects, problems = append(objects, more...), append(problems, wrong...)
	}
	return objects, problems
}

func (p manifestPart) read(dir string) ([]manifest.Object, strict.Problems) {
	if p.file == nil {
		return manifest.Decode(p.inline)
	}
	name, ok := p.file.Text()
	if !ok {
		return nil, nil // reported when the file was decoded
	}
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, name)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		at := p.file.Position()
		return nil, strict.Problems{{
			File: p.file.File(), Line: at.Line, Column: at.Column, Path: p.file.Path(),
			Found: fmt.Sprintf("file %q, which cannot be read (%v)", name, err), Want: "a file with manifests, relative to this file",
		}}
	}
	return manifest.DecodeText(strict.Source{File: path, Text: data})
}
