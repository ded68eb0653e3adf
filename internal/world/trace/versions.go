package trace

import (
	"encoding/json"
	"io"
	"strings"
)

// Versions are the versions of the programs that made a recording. The zero value names none.
type Versions struct {
	Csisim     string `json:"csisim,omitempty"`
	Kubernetes string `json:"kubernetes,omitempty"` // of the control plane at the start
}

// WriteTo writes the first line of a trace.
func (v Versions) WriteTo(w io.Writer) (int64, error) {
	text, err := json.Marshal(struct {
		T   int64    `json:"t"`
		K   Kind     `json:"k"`
		Obj Versions `json:"obj"`
	}{K: MadeWith, Obj: v})
	if err != nil {
		return 0, err
	}
	n, err := w.Write(append(text, '\n'))
	return int64(n), err
}

// String returns the versions in words.
func (v Versions) String() string {
	var words []string
	if v.Csisim != "" {
		words = append(words, "csisim "+v.Csisim)
	}
	if v.Kubernetes != "" {
		words = append(words, "Kubernetes "+v.Kubernetes)
	}
	return strings.Join(words, ", ")
}
