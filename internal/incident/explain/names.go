package explain

import (
	"strings"
)

// names merges the names of a volume: its handle, its PersistentVolume, its claim and its
// attachments.
type names struct {
	group map[string]*Volume
	all   []*Volume
}

// Volume holds the names of a volume; empty ones are unknown.
type Volume struct {
	Handle, PV, Claim, Driver string
	// Attachments holds the node of each of its attachments, by the attachment's name.
	Attachments map[string]string

	merged *Volume // the volume that has the names now
}

// now returns the volume that holds the names.
func (v *Volume) now() *Volume {
	for v != nil && v.merged != nil {
		v = v.merged
	}
	return v
}

// String returns the best known name, with the claim.
func (v *Volume) String() string {
	switch {
	case v == nil:
		return "a volume"
	case v.PV != "" && v.Claim != "":
		return "volume " + v.PV + " (claim " + shortName(v.Claim) + ")"
	case v.PV != "":
		return "volume " + v.PV
	case v.Claim != "":
		return "claim " + shortName(v.Claim)
	}
	return "volume " + v.Handle
}

// shortName omits the default namespace.
func shortName(name string) string { return strings.TrimPrefix(name, "default/") }

// The kinds of names.
const (
	byHandle     = "handle:"
	byPV         = "pv:"
	byClaim      = "claim:"
	byAttachment = "attachment:"
)

// Snapshots and group snapshots are named like claims, with these prefixes.
const (
	ofSnapshot = "snapshot "
	ofGroup    = "group snapshot "
)

// volume returns the volume with the given names, some of which may be empty. It merges the volumes
// that were known under these names. It returns nil if all names are empty.
func (n *names) volume(keys ...string) *Volume {
	var v *Volume
	for _, key := range keys {
		kind, name, _ := strings.Cut(key, ":")
		if name == "" || name == ofSnapshot || name == ofGroup {
			continue
		}
		known := n.known(key, kind, name)
		switch {
		case v == nil && known == nil:
			v = &Volume{Attachments: map[string]string{}}
			n.all = append(n.all, v)
		case v == nil:
			v = known
		case known != nil && known != v:
			v.join(known)
		}
		n.group[key] = v
		v.set(kind+":", name)
	}
	return v
}

// known returns the volume that has a name. Drivers use the name of its PersistentVolume for a
// volume that they create.
func (n *names) known(key, kind, name string) *Volume {
	known := n.group[key].now()
	if known != nil {
		return known
	}
	switch kind + ":" {
	case byHandle:
		return n.group[byPV+name].now()
	case byPV:
		return n.group[byHandle+name].now()
	}
	return nil
}

func (v *Volume) set(kind, name string) {
	switch kind {
	case byHandle:
		v.Handle = name
	case byPV:
		v.PV = name
	case byClaim:
		v.Claim = name
	case byAttachment:
		if _, known := v.Attachments[name]; !known {
			v.Attachments[name] = ""
		}
	}
}

// join adds the names of another volume that turned out to be the same.
func (v *Volume) join(other *Volume) {
	other.merged = v
	for _, f := range []struct{ to, of *string }{{&v.Handle, &other.Handle}, {&v.PV, &other.PV}, {&v.Claim, &other.Claim}, {&v.Driver, &other.Driver}} {
		if *f.to == "" {
			*f.to = *f.of
		}
	}
	for name, node := range other.Attachments { // in any order: names differ
		if v.Attachments[name] == "" {
			v.Attachments[name] = node
		}
	}
}
