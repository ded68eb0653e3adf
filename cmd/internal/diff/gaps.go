package diff

import (
	"fmt"
	"math"
	stdpath "path"
	"slices"
	"strings"
	"time"

	"github.com/csisim/csisim/internal/world/trace"
)

const (
	gapShare        = 0.15
	gapAtLeast      = 150 // ms
	attachDetachGap = 600 // ms: it polls at intervals of 500
)

// trigger is an event that may cause a call for a volume.
type trigger struct {
	at   int64
	what string
	line int // of the trace
}

// compareGaps compares the times between retries, and from the last trigger to every other call.
func (d *comparison) compareGaps(pairs map[series][]matched) {
	for _, on := range sortedSeries(pairs) {
		all := slices.DeleteFunc(slices.Clone(pairs[on]), func(m matched) bool { return m.a.doubled && m.b.doubled })
		backoff := false // a repeated call has used up a step of the backoff
		for i, m := range all {
			retry := i > 0 && m.a.alike(all[i-1].a) && failed(all[i-1].a) && failed(all[i-1].b)
			switch {
			case retry:
				backoff = backoff || m.a.doubled || m.b.doubled
				d.compareRetry(on, all[i-1], m, &backoff)
			case on.volume != "":
				backoff = false
				d.compareWait(on, m)
			}
		}
	}
}

// failed reports whether a call failed and its caller will retry it, if the caller still runs.
func failed(c *call) bool { return c.code != "" && c.code != "Canceled" }

// compareRetry compares the gap between a failed call and its retry.
func (d *comparison) compareRetry(on series, before, m matched, backoff *bool) {
	a, b := m.a.at-before.a.at, m.b.at-before.b.at
	d.compared(Gaps)
	switch {
	case a == b:
	case within(a, b, gapAtLeast):
		d.allow(RetryGap)
	case *backoff && (min(a, b) <= doubleCallWithin || within(2*min(a, b), max(a, b), gapAtLeast)):
		d.allow(DoubleCall)
		*backoff = *backoff && min(a, b) <= doubleCallWithin
	default:
		d.gap(on.String(), "between "+stdpath.Base(m.a.method)+" and its retry", m.a.at, a, m.b.at, b)
	}
}

// compareWait compares the time from the last trigger in both traces to a call.
func (d *comparison) compareWait(on series, m matched) {
	a, b, ok := shared(d.a.before(on.volume, m.a), d.b.before(on.volume, m.b))
	if !ok {
		d.allow(WaitGap)
		return
	}
	d.compared(Gaps)
	waitA, waitB := m.a.at-a.at, m.b.at-b.at
	period := phase(m.a.method, a.what).Milliseconds()
	switch {
	case waitA == waitB:
	case within(waitA, waitB, period):
		d.allow(WaitGap)
	default:
		d.gap(on.String(), fmt.Sprintf("from %s to %s", stdpath.Base(a.what), stdpath.Base(m.a.method)), m.a.at, waitA, m.b.at, waitB)
	}
}

// shared returns the last trigger in both lists.
func shared(a, b []trigger) (inA, inB trigger, ok bool) {
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i].what == b[j].what {
				return a[i], b[j], true
			}
		}
	}
	return trigger{}, trigger{}, false
}

// within reports whether two gaps agree to 15 % or the given ms.
func within(a, b, atLeast int64) bool {
	return math.Abs(float64(a-b)) <= max(gapShare*float64(max(a, b)), float64(atLeast))
}

func (d *comparison) gap(subject, what string, atA, a, atB, b int64) {
	d.differ(Gaps, subject, what, []Row{{A: cell(atA, seconds(a)), B: cell(atB, seconds(b))}}, 0)
}

func seconds(ms int64) string { return (time.Duration(ms) * time.Millisecond).String() }

// compareRepeats compares the gaps between emissions of the same warning: retries after failures
// have fixed delays, calls after successes have not.
func (d *comparison) compareRepeats(subject string, rows []pair, a, b []*event) {
	last := map[string]pair{}
	for _, row := range rows {
		if row.a < 0 || row.b < 0 || a[row.a].reason != b[row.b].reason || a[row.a].kind != "Warning" {
			continue
		}
		key := a[row.a].reason + " " + a[row.a].message
		if before, ok := last[key]; ok {
			gapA, gapB := a[row.a].at-a[before.a].at, b[row.b].at-b[before.b].at
			atLeast := int64(gapAtLeast)
			if a[row.a].source == "attachdetach-controller" {
				atLeast = attachDetachGap
			}
			d.compared(Gaps)
			switch {
			case gapA == gapB:
			case within(gapA, gapB, atLeast):
				d.allow(RetryGap)
			default:
				d.gap(subject, "between two events "+a[row.a].reason, a[row.a].at, gapA, b[row.b].at, gapB)
			}
		}
		last[key] = row
	}
}

// recent is the number of last triggers before a call that may have caused the call.
const recent = 3

// before returns the last triggers before a call, the newest last.
func (s *side) before(volume string, c *call) (found []trigger) {
	for _, t := range s.triggers[volume] {
		if t.line < c.line && t.at <= c.at {
			found = append(found, t)
		}
	}
	return found[max(0, len(found)-recent):]
}

// findTriggers collects triggers by volume: the ends of its calls, and the creation and deletion of
// its claim and of the pods that use it.
func (s *side) findTriggers(lines []trace.Line) map[string][]trigger {
	all := map[string][]trigger{}
	for _, c := range s.calls {
		if c.volume != "" && !periodic[c.method] {
			all[c.volume] = append(all[c.volume], trigger{c.ended, "the end of " + c.method, c.line})
		}
	}
	volumes := s.volumesByClaim(lines)
	claims, inline := map[string][]string{}, map[string][]string{} // by pod
	going := map[string]bool{}
	for i, l := range lines {
		if l.K != trace.API || l.Ev == "INIT" {
			continue
		}
		var what string
		switch {
		case l.Ev != "MODIFIED":
			what = l.Ev
		case text(l.Patch, "metadata", "deletionTimestamp") != "" && !going[l.R+l.Name]:
			what = "deletion"
		default:
			continue
		}
		going[l.R+l.Name] = what == "deletion"
		switch l.R {
		case "pods":
			if l.Ev == "ADDED" {
				claims[l.Name] = claimsOf(l)
				inline[l.Name] = s.names.inlineOf(l)
			}
			for _, key := range inline[l.Name] {
				all[key] = append(all[key], trigger{l.T, what + " of pod " + l.Name, i})
			}
			for _, claim := range claims[l.Name] {
				key := volumes[claim]
				all[key] = append(all[key], trigger{l.T, what + " of pod " + l.Name, i})
			}
		case "nodes":
			for _, key := range sortedKeys(all) {
				all[key] = append(all[key], trigger{l.T, what + " of node " + l.Name, i})
			}
		case "reclaimspacejobs", "encryptionkeyrotationjobs":
			if claim := text(l.Obj, "spec", "target", "persistentVolumeClaim"); claim != "" {
				namespace, name, _ := strings.Cut(l.Name, "/")
				key := volumes[namespace+"/"+claim]
				all[key] = append(all[key], trigger{l.T, what + " of job " + s.names.in(name), i})
			}
		case "persistentvolumeclaims":
			key := volumes[l.Name]
			all[key] = append(all[key], trigger{l.T, what + " of claim " + l.Name, i})
		}
	}
	for key := range all {
		slices.SortStableFunc(all[key], func(x, y trigger) int { return int(x.at - y.at) })
	}
	return all
}

// claimsOf returns the claims that a pod uses.
func claimsOf(l trace.Line) (claims []string) {
	namespace, _, _ := strings.Cut(l.Name, "/")
	for _, v := range list(field(l.Obj, "spec", "volumes")) {
		if claim := text(v, "persistentVolumeClaim", "claimName"); claim != "" {
			claims = append(claims, namespace+"/"+claim)
		}
	}
	return claims
}

// volumesByClaim returns the keys of the volumes of claims.
func (s *side) volumesByClaim(lines []trace.Line) map[string]string {
	handles, keys := map[string]string{}, map[string]string{}
	for _, l := range lines {
		if handle := text(l.Obj, "spec", "csi", "volumeHandle"); l.R == "persistentvolumes" && handle != "" {
			handles[l.Name] = handle
		}
	}
	for _, l := range lines {
		if l.R != "persistentvolumeclaims" {
			continue
		}
		if id := text(l.Obj, "metadata", "uid"); id != "" {
			if key := s.names.created["pvc-"+id]; key != "" {
				keys[l.Name] = key
			}
		}
		for _, place := range []any{l.Obj, l.Patch} {
			if handle := handles[text(place, "spec", "volumeName")]; handle != "" {
				keys[l.Name] = s.names.keyOf(handle)
			}
		}
	}
	return keys
}
