package sidecar

import "github.com/csisim/csisim/internal/input/strict"

// Unlimited is the rate of a client-go client that never delays a request.
const Unlimited Rate = -1

// Rate is the number of requests per second of an API client; 0 is the default.
type Rate float64

// Wanted describes the valid numbers.
func (Rate) Wanted() string {
	return "a number of requests in a second, or -1 for no limit"
}

// UnmarshalStrict reads the number.
func (r *Rate) UnmarshalStrict(n *strict.Node) {
	var number float64
	if n.IsMap() || n.IsList() || n.IsNull() {
		n.ReportWrong(r.Wanted())
		return
	}
	n.Decode(&number)
	if number < 0 && Rate(number) != Unlimited {
		n.ReportWrong(r.Wanted())
		return
	}
	*r = Rate(number)
}

// JSONSchema returns the schema of a number.
func (Rate) JSONSchema() map[string]any {
	return map[string]any{"anyOf": []any{
		map[string]any{"type": "number", "minimum": 0},
		map[string]any{"const": Unlimited},
	}}
}
