package diff

import "strings"

// compareRuntime compares the requests to the container runtime for each pod.
func (d *comparison) compareRuntime() {
	byPod := func(s *side) map[string][]*request {
		all := map[string][]*request{}
		for _, r := range s.requests {
			key := "pod " + r.pod + " on " + r.node
			all[key] = append(all[key], r)
		}
		return all
	}
	a, b := byPod(d.a), byPod(d.b)
	for _, pod := range union(a, b, strings.Compare) {
		d.compareAsked(pod, a[pod], b[pod])
	}
}

func (d *comparison) compareAsked(pod string, a, b []*request) {
	rows := align(len(a), len(b), costs{
		pair: func(i, j int) float64 {
			switch {
			case a[i].what == b[j].what:
				return 0
			case firstWord(a[i].what) == firstWord(b[j].what):
				return 1
			default:
				return 9
			}
		},
		onlyA: constant(1), onlyB: constant(1),
	})
	shown := sideBySide(rows, a, b, func(r *request) Cell { return Cell{r.at, r.what} })
	for i, row := range shown {
		switch {
		case row.Same:
			d.compared(Runtime)
		case row.B.Text == "":
			d.differ(Runtime, pod, firstWord(row.A.Text)+" is only in A", shown, i)
		case row.A.Text == "":
			d.differ(Runtime, pod, firstWord(row.B.Text)+" is only in B", shown, i)
		default:
			d.differ(Runtime, pod, firstWord(row.A.Text)+" differs", shown, i)
		}
	}
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return word
}
