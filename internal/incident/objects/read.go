package objects

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/csisim/csisim/internal/incident/fields"
)

// Object is an object of Kubernetes and the line of its file, if it is known.
type Object struct {
	Fields map[string]any
	Line   int
}

// ReadJSON reads objects and lists of objects in JSON, one after the other. It returns the content
// after the last object.
func ReadJSON(from io.Reader, take func(Object) error) (rest io.Reader, err error) {
	decoder := json.NewDecoder(from)
	for {
		var object map[string]any
		err := decoder.Decode(&object)
		switch {
		case errors.Is(err, io.EOF):
			return nil, nil
		case err != nil:
			return io.MultiReader(decoder.Buffered(), from), nil
		}
		if err := each(Object{Fields: object}, take); err != nil {
			return nil, err
		}
	}
}

// each passes on an object, or the objects of a list.
func each(o Object, take func(Object) error) error {
	items, isList := o.Fields["items"].([]any)
	if !isList {
		return take(o)
	}
	kind := strings.TrimSuffix(fields.Text(o.Fields, "kind"), "List")
	for _, item := range fields.List(items) {
		if item["kind"] == nil && kind != "" {
			item["kind"] = kind
		}
		if err := each(Object{item, o.Line}, take); err != nil {
			return err
		}
	}
	return nil
}

// largest is the number of bytes of the largest YAML object that is read.
const largest = 16 << 20

// errTooLarge is the error for a YAML object that is larger.
var errTooLarge = errors.New("an object has more than 16 MB")

// ReadYAML reads objects in YAML: documents, or a list. Items that begin at the left margin are
// read individually.
func ReadYAML(from io.Reader, take func(Object) error) error {
	s := bufio.NewScanner(from)
	s.Buffer(nil, largest)
	var part bytes.Buffer
	begin, inList := 1, false
	end := func(next int) error {
		defer func() { part.Reset(); begin = next }()
		return document(part.Bytes(), begin, take)
	}
	for n := 1; s.Scan(); n++ {
		line := s.Text()
		switch {
		case line == "---" || strings.HasPrefix(line, "--- "):
			inList = false
			if err := end(n + 1); err != nil {
				return err
			}
			continue
		case line == "items:":
			inList = true
			part.Reset()
			continue
		case inList && strings.HasPrefix(line, "- "):
			if err := end(n); err != nil {
				return err
			}
			line = "  " + line[2:]
		case inList && line != "" && line[0] != ' ' && line[0] != '#': // the fields after the list
			inList = false
			if err := end(n); err != nil {
				return err
			}
		}
		part.WriteString(line + "\n")
		if part.Len() > largest {
			return errTooLarge
		}
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("read YAML: %w", err)
	}
	return end(0)
}

func document(content []byte, line int, take func(Object) error) error {
	var object map[string]any
	if err := yaml.Unmarshal(content, &object); err != nil {
		return fmt.Errorf("line %d: not YAML: %w", line, err)
	}
	if fields.Text(object, "kind") == "" || fields.Text(object, "kind") == "List" && object["items"] == nil {
		return nil
	}
	return each(Object{object, line}, take)
}
