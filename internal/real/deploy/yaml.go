package deploy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// Write writes objects as YAML documents, without the fields that the API server fills in.
func Write(out io.Writer, objects []runtime.Object) error {
	for i, o := range objects {
		text, err := json.Marshal(o)
		if err != nil {
			return fmt.Errorf("render %T: %w", o, err)
		}
		var fields map[string]any
		if err := json.Unmarshal(text, &fields); err != nil {
			return err
		}
		delete(fields, "status")
		prune(fields)
		if text, err = yaml.Marshal(fields); err != nil {
			return err
		}
		if i > 0 {
			text = append([]byte("---\n"), text...)
		}
		if _, err := io.Copy(out, bytes.NewReader(text)); err != nil {
			return err
		}
	}
	return nil
}

// prune removes fields that are empty only because Go's types have them.
func prune(fields map[string]any) {
	for name, value := range fields {
		below, isMap := value.(map[string]any)
		switch {
		case value == nil:
			delete(fields, name)
		case isMap:
			prune(below)
			if len(below) == 0 && (name == "resources" || name == "updateStrategy" || name == "strategy") {
				delete(fields, name)
			}
		}
		if list, ok := value.([]any); ok {
			for _, item := range list {
				if below, ok := item.(map[string]any); ok {
					prune(below)
				}
			}
		}
	}
}
