package strict

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// Parse reads all documents of the text and skips empty ones. If there are problems, it returns no
// documents, because the text after a syntax error is unreliable.
func Parse(source Source) ([]*Document, Problems) {
	if at := invalidUTF8(source.Text); at >= 0 {
		return nil, Problems{source.encodingProblem(at)}
	}
	roots, err := parseAll(source.Text)
	if err != nil {
		return nil, Problems{source.syntaxProblem(err)}
	}
	lines := source.lines()
	var documents []*Document
	var problems Problems
	for _, root := range roots {
		d := &Document{Source: source, Positions: Positions{}, lines: lines}
		d.checkExtent(root)
		d.Root = d.node(root, "")
		if !isNull(root) {
			documents = append(documents, d)
		}
		problems = append(problems, d.problems...)
	}
	if len(problems) > 0 {
		return nil, problems.Sorted()
	}
	return documents, nil
}

// parseAll returns the root value of each document.
func parseAll(text []byte) (roots []*yaml.Node, err error) {
	// The YAML library panics on a few malformed inputs.
	defer func() {
		if broken := recover(); broken != nil {
			err = fmt.Errorf("yaml: %v", broken)
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return roots, nil
		}
		if err != nil {
			return nil, err
		}
		roots = append(roots, document.Content[0])
	}
}
