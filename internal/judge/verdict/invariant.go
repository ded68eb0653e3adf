package verdict

import "slices"

// Key names an invariant. Reports, known findings and JSON use it.
type Key string

// Invariant is a statement that holds in every run, in any order and with any faults.
type Invariant struct {
	Name Key
	// Holds is the statement, and Reason the harm if it does not hold.
	Holds, Reason string
	// Rules are the sections of the CSI spec and the rules of Kubernetes that require it.
	Rules []string
	// Blame is the party that is responsible for a breach.
	Blame Blame
	// Rank orders causes before their consequences.
	Rank Rank
}

// Blame is the party that is responsible for a breach.
type Blame int

// The parties.
const (
	// Driver: it broke the CSI spec, refused a call permanently, lost data, or left something
	// behind.
	Driver Blame = iota
	// Kubernetes: the driver performed all of its calls. A call is missing, or something under the
	// control of other components never happened. Real Kubernetes may do the same under these
	// faults.
	Kubernetes
	// Scenario: it expects exactly one of several results that depend on the order.
	Scenario
	// Own: a statement in the scenario's always list does not hold.
	Own
	// User: an action of a user or an administrator has this effect, whatever the driver does.
	User
)

// Rank orders causes before their consequences.
type Rank int

// The ranks, causes first.
const (
	// Dies: the driver's program exits by itself.
	Dies Rank = iota - 1
	// Breach: an answer breaks the CSI spec.
	Breach
	// NoEffect: a call answers OK without an effect, or removes something that is in use.
	NoEffect
	// Refuses: a call fails for good.
	Refuses
	// Spoils: data is lost.
	Spoils
	// Leaks: something is left behind.
	Leaks
	// Waits: something never happened.
	Waits
)

// all are the invariants, in the order of docs/reference/invariants.md.
var all = []*Invariant{
	alive, own, idempotent, effective, contradicted, singleWriter, locks, addons, secrets,
	undone, askedAgain, leaked, sizes, answers, foreignMounts, data,
	attachedFirst, stagedFirst, unpublishedFirst, unstagedFirst, detachedFirst, handedOn, handover, progress,
}

var byKey = func() map[Key]*Invariant {
	found := map[Key]*Invariant{}
	for _, in := range all {
		found[in.Name] = in
	}
	return found
}()

// All lists the invariants.
func All() []*Invariant { return slices.Clone(all) }

// Invariant returns the invariant of a key, or nil if there is none.
func (k Key) Invariant() *Invariant { return byKey[k] }
