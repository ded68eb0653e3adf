package scenario

import "github.com/csisim/csisim/internal/input/strict"

// unlimited is the rate of client-go's clients that wait for nothing.
const unlimited = -1

// rate is how many requests a client of the API sends in a second; 0 is the default.
type rate float64

// Wanted describes the numbers that are rates.
func (rate) Wanted() string {
	return "a number of requests in a second, or -1 for no limit"
}

// UnmarshalStrict reads the number.
func (r *rate) UnmarshalStrict(n *strict.Node) {
	var number float64
	if n.IsMap() || n.IsList() || n.IsNull() {
		n.ReportWrong(r.Wanted())
		return
	}
	n.Decode(&number)
	if number < 0 && number != unlimited {
		n.ReportWrong(r.Wanted())
		return
	}
	*r = rate(number)
}

// JSONSchema is a number.
func (rate) JSONSchema() map[string]any {
	return map[string]any{"anyOf": []any{
		map[string]any{"type": "number", "minimum": 0},
		map[string]any{"const": unlimited},
	}}
}
