package verdict

import "encoding/json"

// OfEvent returns the verdict in the detail of an event. If the event was read from a trace, its
// message is the verdict's text. It is false if the event has none.
func OfEvent(detail any, message string) (v Verdict, ok bool) {
	switch detail := detail.(type) {
	case Verdict:
		return detail, true
	case map[string]any:
		text, err := json.Marshal(detail)
		if err != nil || json.Unmarshal(text, &v) != nil {
			return Verdict{}, false
		}
		v.Text = message
		return v, v.Name != ""
	}
	return Verdict{}, false
}
