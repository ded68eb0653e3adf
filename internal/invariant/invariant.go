// Package invariant lists what holds in every run, in any order and with any faults: what it is, why, and who is to blame when it does
// not hold. One invariant stands in one file. Some are looked after here, by following the calls to drivers; others where what they are
// about is known, and the list says how their breaches begin.
package invariant

import (
	"regexp"
	"slices"
	"strings"
)

// Invariant is one that holds in every run.
type Invariant struct {
	// Name is what reports call it, Holds what holds, and Reason what is lost when it does not.
	Name, Holds, Reason string
	// Rules are where it is laid down: sections of the CSI spec, rules of Kubernetes.
	Rules []string
	// Blame is whose doing a breach is.
	Blame Blame
	// Rank orders causes before what comes of them.
	Rank Rank

	// breaks recognises the verdict of a breach.
	breaks func(verdict string) bool
}

// Blame is whose doing a breach is.
type Blame int

// Who may be to blame.
const (
	// Driver: it broke the CSI spec, refused for good what it was asked, lost data, or left something behind.
	Driver Blame = iota
	// Kubernetes: the driver did all that it was asked. Nobody asked it for what is missing, or something that is
	// up to others never came about; under the same faults real Kubernetes may do the same.
	Kubernetes
	// Scenario: it expects exactly what holds in some orders only.
	Scenario
	// Own: what the scenario says to hold always does not.
	Own
	// User: somebody did something in the run that has this effect, whatever the driver does.
	User
)

// Rank orders causes before what comes of them.
type Rank int

// The ranks, causes first.
const (
	Dies     Rank = iota - 1 // the driver's program ends by itself
	Breach                   // of the CSI spec, in an answer
	NoEffect                 // a call that answers OK and does nothing, as another one may have spoilt it, or one that takes away what others use
	Refuses                  // a call that fails for good
	Spoils                   // data
	Leaks                    // something is left behind
	Waits                    // something never came about
)

// all are in the order in which verdicts are held against them.
var all = []*Invariant{
	alive, own, idempotent, effective, contradicted, singleWriter, lockEnds, addonsPromises, secretsKept,
	nothingUndone, askedAgain, nothingLeaked, sizes, answers, foreignMounts, data, usedWhereAttached, publishedWhereStaged, unstagedUnused, detachedUnused, deletedUnused, handedOn, handedOver, progress,
}

// All lists them.
func All() []*Invariant { return slices.Clone(all) }

// Of is the invariant that a verdict says to be broken; nil if the verdict is about something that only one scenario expects.
func Of(verdict string) *Invariant {
	verdict = strings.TrimPrefix(verdict, "CSI spec violated: ")
	if i := slices.IndexFunc(all, func(in *Invariant) bool { return in.breaks(verdict) }); i >= 0 {
		return all[i]
	}
	return nil
}

// begins recognises verdicts by how they begin.
func begins(with ...string) func(string) bool {
	return func(verdict string) bool {
		return slices.ContainsFunc(with, func(w string) bool { return strings.HasPrefix(verdict, w) })
	}
}

// has recognises verdicts by a part of them.
func has(parts ...string) func(string) bool {
	return func(verdict string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(verdict, part) })
	}
}

// matches recognises verdicts by a pattern.
func matches(pattern func() *regexp.Regexp) func(string) bool {
	return func(verdict string) bool { return pattern().MatchString(verdict) }
}
