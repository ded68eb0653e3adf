package incident

import (
	"cmp"
	"time"

	"github.com/csisim/csisim/internal/incident/timeline"
)

// place is the origin of facts: a node or a pod, and the file. Objects name the nodes of pods.
// Facts of one place have one clock.
type place struct{ node, pod, file string }

// places numbers the places.
type places struct {
	known map[place]timeline.Place
	all   []place
	nodes map[string]string // of pods, by namespace/name and by name
}

func (p *places) of(at place) timeline.Place {
	number, known := p.known[at]
	if !known {
		number = timeline.Place(len(p.all))
		p.known[at] = number
		p.all = append(p.all, at)
	}
	return number
}

// node returns the node of a place; empty if it is unknown.
func (p *places) node(of timeline.Place) string {
	at := p.all[of]
	if at.node != "" {
		return at.node
	}
	return p.nodes[at.pod]
}

// clock names the clock of a place: the clock of its node, otherwise of its pod, otherwise of its
// file.
func (p *places) clock(of timeline.Place) string {
	at := p.all[of]
	return cmp.Or(p.node(of), at.pod, at.file)
}

// on notes the node of a pod.
func (p *places) on(pod, node string) {
	if pod != "" && node != "" {
		p.nodes[pod] = node
	}
}

// Skew is a clock that differs from the others.
type Skew struct {
	Clock string
	// By is the lead of the clock, and Error the possible error of By. IsBound means that By is the
	// smallest difference that explains the log; the true one may be larger.
	By, Error time.Duration
	IsBound   bool
}
