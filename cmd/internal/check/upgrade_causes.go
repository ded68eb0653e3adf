package check

import (
	"path"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/judge/calls"
	"github.com/csisim/csisim/internal/judge/contract"
)

// explain gives one name to the findings that a lost capability causes. Without the capability,
// Kubernetes omits calls, or treats the volumes as if the driver had never had it.
func (u *Upgrade) explain(shown [][]Finding) {
	lost := u.lost()
	if lost == "" {
		return
	}
	for _, findings := range shown {
		for i := range findings {
			if f := &findings[i]; f.Form == calls.OutOfOrder || f.Form == calls.WrongRequest || strings.Contains(f.Field, "Request.") {
				f.Name = "the new release lacks " + lost + ", which volumes of the old release use"
				f.Harm = Stuck
			}
		}
	}
}

// lost names the capabilities that the new release lacks; empty if there are none.
func (u *Upgrade) lost() string {
	var all []string
	for _, s := range u.services() {
		all = append(all, without(s.old, s.new)...)
	}
	return strings.Join(all, ", ")
}

// failsAlike returns a key for calls with the same final error in trials of an upgrade. One release
// then does not recognize the volumes of the other.
func failsAlike(f Finding) (key string, fails bool) {
	return f.Code + string(f.Release), f.Form == contract.FailsForGood
}

// merge merges the findings of calls that share a key.
func merge(all []Finding, keyOf func(Finding) (key string, merges bool)) (merged []Finding) {
	at := map[string]int{} // by key: the index of the merged finding
	for _, f := range all {
		key, merges := keyOf(f)
		i, first := at[key]
		switch {
		case !merges:
			merged = append(merged, f)
		case first:
			merged[i].Likewise = append(merged[i].Likewise, path.Base(f.Method))
			for _, o := range f.Shown {
				if !slices.ContainsFunc(merged[i].Shown, func(other Outcome) bool { return other.Trial == o.Trial }) {
					merged[i].Shown = append(merged[i].Shown, o)
				}
			}
		default:
			at[key] = len(merged)
			merged = append(merged, f)
		}
	}
	return merged
}
