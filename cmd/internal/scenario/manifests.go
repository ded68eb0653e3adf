package scenario

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/csisim/csisim/internal/input/manifest"
	"github.com/csisim/csisim/internal/input/strict"
)

// Manifests are the Kubernetes objects in a scenario: an object, a text block with any number of
// objects, {file: path}, or a list of these. {file: path, copies: 100} makes 100 copies of a file,
// in which {{i}} is replaced by the number of the copy, from 0.
type Manifests struct{ parts []manifestPart }

type manifestPart struct {
	inline strict.Raw
	file   *strict.Node
	copies int // 0: the file itself
}

// IsZero reports whether there are no manifests.
func (m Manifests) IsZero() bool { return len(m.parts) == 0 }

// copyNumber is the placeholder for the number of a copy.
const copyNumber = "{{i}}"

// maxCopies bounds the copies, so that a mistyped number is reported at once.
const maxCopies = 100_000

// UnmarshalStrict keeps the objects as text. They are read when the scenario is checked.
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
			File   string `json:"file" want:"required" example:"manifests/pod.yaml"`
			Copies any    `json:"copies,omitempty"`
		}
		n.Decode(&known)
		if copies := n.Value("copies"); copies != nil {
			number, err := strconv.Atoi(fmt.Sprint(known.Copies))
			if err != nil || number < 1 || number > maxCopies {
				copies.ReportWrong(fmt.Sprintf("a number of copies from 1 to %d", maxCopies))
				number = 1
			}
			part.copies = number
		}
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

// maxText bounds the bytes of a scenario's manifests, with all copies.
const maxText = 128 << 20

// read decodes all objects; files are relative to dir. room is the part of maxText that is still
// unused.
func (m Manifests) read(dir string, room *int) ([]manifest.Object, strict.Problems) {
	var objects []manifest.Object
	var problems strict.Problems
	for _, part := range m.parts {
		more, wrong := part.read(dir, room)
		objects, problems = append(objects, more...), append(problems, wrong...)
	}
	return objects, problems
}

func (p manifestPart) read(dir string, room *int) ([]manifest.Object, strict.Problems) {
	if p.file == nil {
		return manifest.Decode(p.inline)
	}
	name, ok := p.file.Text()
	if !ok {
		return nil, nil // reported when the file was decoded
	}
	path, data, err := p.text(dir)
	*room -= len(data) * max(1, p.copies)
	switch {
	case err != nil:
		return nil, p.problem(fmt.Sprintf("file %q, which cannot be read (%v)", name, err), "a file with manifests, relative to this file")
	case *room < 0:
		*room = 0
		return nil, p.problem(fmt.Sprintf("%d times the %d bytes of file %q", max(1, p.copies), len(data), name), fmt.Sprintf("no more than %d MiB of manifests in a scenario", maxText>>20))
	case p.copies == 0:
		return manifest.DecodeText(strict.Source{File: path, Text: data})
	case !bytes.Contains(data, []byte(copyNumber)):
		return nil, p.problem(fmt.Sprintf("copies of file %q, which are all alike", name), copyNumber+" in the names of its objects, for the number of the copy")
	}
	return manifest.Copies(strict.Source{File: path, Text: data}, copyNumber, p.copies)
}

// text returns the file, relative to dir; none if the manifests are inline.
func (p manifestPart) text(dir string) (path string, data []byte, err error) {
	if p.file == nil {
		return "", nil, nil
	}
	path, _ = p.file.Text()
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	data, err = strict.ReadFile(path)
	return path, data, err
}

// problem returns a mistake of the file.
func (p manifestPart) problem(found, want string) strict.Problems {
	at := p.file.Position()
	return strict.Problems{{File: p.file.File(), Line: at.Line, Column: at.Column, Path: p.file.Path(), Found: found, Want: want}}
}
