package scenario

import "github.com/csisim/csisim/internal/input/strict"

// decodeNodeStep reads a step with one node: the node's name, or a map with the name as in other
// steps.
func decodeNodeStep(n *strict.Node, name *string) {
	if !n.IsMap() {
		n.Decode(name)
		return
	}
	var fields struct {
		Node string `json:"node" want:"required" example:"node-a"`
	}
	n.Decode(&fields)
	*name = fields.Node
}

// nodeStepSchema allows both forms.
func nodeStepSchema() map[string]any {
	name := map[string]any{"type": "string"}
	return map[string]any{"oneOf": []any{name, map[string]any{
		"type": "object", "properties": map[string]any{"node": name}, "required": []any{"node"}, "additionalProperties": false,
	}}}
}

// UnmarshalStrict reads either form.
func (s *killKubeletStep) UnmarshalStrict(n *strict.Node) { decodeNodeStep(n, (*string)(s)) }

// UnmarshalStrict reads either form.
func (s *startKubeletStep) UnmarshalStrict(n *strict.Node) { decodeNodeStep(n, (*string)(s)) }

// UnmarshalStrict reads either form.
func (s *restartKubeletStep) UnmarshalStrict(n *strict.Node) { decodeNodeStep(n, (*string)(s)) }

// UnmarshalStrict reads either form.
func (s *powerOffStep) UnmarshalStrict(n *strict.Node) { decodeNodeStep(n, (*string)(s)) }

// UnmarshalStrict reads either form.
func (s *powerOnStep) UnmarshalStrict(n *strict.Node) { decodeNodeStep(n, (*string)(s)) }

// UnmarshalStrict reads either form.
func (s *cordonStep) UnmarshalStrict(n *strict.Node) { decodeNodeStep(n, (*string)(s)) }

// UnmarshalStrict reads either form.
func (s *uncordonStep) UnmarshalStrict(n *strict.Node) { decodeNodeStep(n, (*string)(s)) }

// JSONSchema allows both forms.
func (killKubeletStep) JSONSchema() map[string]any { return nodeStepSchema() }

// JSONSchema allows both forms.
func (startKubeletStep) JSONSchema() map[string]any { return nodeStepSchema() }

// JSONSchema allows both forms.
func (restartKubeletStep) JSONSchema() map[string]any { return nodeStepSchema() }

// JSONSchema allows both forms.
func (powerOffStep) JSONSchema() map[string]any { return nodeStepSchema() }

// JSONSchema allows both forms.
func (powerOnStep) JSONSchema() map[string]any { return nodeStepSchema() }

// JSONSchema allows both forms.
func (cordonStep) JSONSchema() map[string]any { return nodeStepSchema() }

// JSONSchema allows both forms.
func (uncordonStep) JSONSchema() map[string]any { return nodeStepSchema() }
