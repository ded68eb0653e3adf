package reenact

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// step is a step at its time.
type step struct {
	at   time.Duration
	rank int // faults come before the actions that they affect
	text string
}

// steps writes the steps in their order, with the pauses between them.
func (s *Story) steps(b *strings.Builder) {
	for _, p := range s.cast.ordered() {
		if p.isOld {
			b.WriteString(applied(p.manifest()))
		}
	}
	for _, n := range s.cast.played() {
		if n.isOld {
			b.WriteString(applied(n.manifest()))
		}
	}
	for _, g := range s.cast.playedGroups() {
		if g.isOld {
			b.WriteString(applied(g.manifest()))
		}
	}
	b.WriteString("- settle: {}\n")
	all := s.allSteps()
	slices.SortStableFunc(all, func(a, c step) int { return cmp.Or(cmp.Compare(a.at, c.at), a.rank-c.rank) })
	now := time.Duration(0)
	for _, next := range all {
		if pause := next.at - now; pause >= time.Millisecond {
			fmt.Fprintf(b, "- advance: %s\n", rounded(pause))
			now = next.at
		}
		b.WriteString(next.text)
	}
	if rest := s.ended - now; rest >= time.Millisecond {
		fmt.Fprintf(b, "- advance: %s\n", rounded(rest))
	}
}

// applied renders the step that creates an object.
func applied(object map[string]any) string {
	var b strings.Builder
	b.WriteString("- apply: |\n")
	for line := range strings.SplitSeq(strings.TrimSpace(block(object)), "\n") {
		b.WriteString("    " + line + "\n")
	}
	return b.String()
}

func (s *Story) allSteps() (all []step) {
	for _, v := range s.cast.all() {
		namespace, claim, _ := strings.Cut(v.claim, "/")
		if v.isNew {
			all = append(all, step{v.madeAt, 1, applied(v.claimObject(v.claimSpec(v.className())))})
		}
		if v.grown > 0 {
			merge := map[string]any{"spec": map[string]any{"resources": map[string]any{"requests": map[string]any{"storage": v.larger()}}}}
			all = append(all, step{max(v.grown, v.madeAt), 3, fmt.Sprintf("- patch: {pvc: %s, namespace: %s, merge: %s}\n", claim, namespace, flow(merge))})
		}
		if v.deleted > 0 {
			all = append(all, step{max(v.deleted, v.madeAt), 3, fmt.Sprintf("- delete: {pvc: %s, namespace: %s}\n", claim, namespace)})
		}
	}
	for _, p := range s.cast.ordered() {
		if !p.isOld {
			all = append(all, step{p.created, 2, applied(p.manifest())})
		}
		if p.deleted > 0 {
			namespace, name, _ := strings.Cut(p.name, "/")
			all = append(all, step{max(p.deleted, p.created), 3, fmt.Sprintf("- delete: {pod: %s, namespace: %s}\n", name, namespace)})
		}
	}
	all = append(all, s.snapshotSteps()...)
	all = append(all, s.groupSteps()...)
	for i, a := range s.script.all {
		if !a.isPlain() && s.Command == nil {
			all = append(all, step{a.after, 0, fmt.Sprintf("- fault: %s\n", flow(a.fault(i, s.script.isLast(a))))})
		}
	}
	for _, t := range s.turns {
		all = append(all, step{t.at, 4, "- " + t.step + "\n"})
	}
	return all
}

// fault returns the fields of the step that gives the answers. A failure stays active if the logs
// do not show a later success.
func (a *answers) fault(n int, isLast bool) map[string]any {
	f := map[string]any{"name": fmt.Sprintf("%s %d", a.method, n+1), "call": a.method}
	if !isLast || a.code == "" && !a.hangs {
		f["times"] = a.times
	}
	if a.node != "" && strings.HasPrefix(a.method, "Node") {
		f["node"] = a.node
	}
	switch {
	case a.hangs:
		f["hang"] = true
	case a.code != "":
		f["code"] = a.code
		if a.message != "" {
			f["message"] = a.message
		}
	default:
		f["delayAnswer"] = rounded(a.took)
	}
	return f
}

// expectations writes the answers that must occur in a run as in the logs.
func (s *Story) expectations(b *strings.Builder) {
	var lines []string
	for _, a := range s.script.all {
		if a.isPlain() || a.hangs || s.Command != nil {
			continue
		}
		want := map[string]any{"call": a.method}
		if a.node != "" {
			want["node"] = a.node
		}
		if a.code != "" {
			want["code"] = a.code
		}
		if line := "  - " + flow(want); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	b.WriteString("expect:\n  leftovers: any # the story may end before the volume is released\n")
	if len(lines) > 0 {
		b.WriteString("  calls:\n" + strings.Join(lines, "\n") + "\n")
	}
}
