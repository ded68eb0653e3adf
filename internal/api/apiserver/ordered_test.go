package apiserver_test

import (
	"bytes"
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// ordered is a value of a script that keeps the order of its keys. The server may have to report
// mistakes in this order.
type ordered struct{ *yaml.Node }

func (o *ordered) UnmarshalYAML(n *yaml.Node) error {
	o.Node = n
	return nil
}

// json returns the value as JSON.
func (o ordered) json() ([]byte, error) {
	var out bytes.Buffer
	err := writeJSON(&out, o.Node)
	return out.Bytes(), err
}

func writeJSON(out *bytes.Buffer, n *yaml.Node) error {
	switch n.Kind {
	case yaml.MappingNode:
		return writeAll(out, "{", "}", n.Content, 2)
	case yaml.SequenceNode:
		return writeAll(out, "[", "]", n.Content, 1)
	case yaml.ScalarNode:
		var value any
		if err := n.Decode(&value); err != nil {
			return err
		}
		text, err := json.Marshal(value)
		out.Write(text)
		return err
	}
	return fmt.Errorf("line %d: a script has no such value", n.Line)
}

func writeAll(out *bytes.Buffer, begin, end string, content []*yaml.Node, each int) error {
	out.WriteString(begin)
	for i, item := range content {
		switch {
		case i%each == 1:
			out.WriteString(":")
		case i > 0:
			out.WriteString(",")
		}
		if err := writeJSON(out, item); err != nil {
			return err
		}
	}
	out.WriteString(end)
	return nil
}
