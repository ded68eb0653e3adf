package diff

import (
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/world/lazyregexp"
)

var (
	endMessage  = lazyregexp.New(`^(pods/.+/containers/[^/]+)/[0-9a-f]{8}$`)
	mount       = lazyregexp.New(`(?: \(device\))?( ?)\[mount \S+ (\S+) src=[^\]]+\]`)
	ofDriver    = lazyregexp.New(`^(?:plugins/kubernetes\.io/csi|plugins)/([^/ ]+\.[^/ ]+)/|^plugins_registry/(\S+?)-reg\.sock`)
	besidesPath = lazyregexp.New(`( [0-7]{3,4}| \(| \[mount | = | -> ).*$`)
	leftBehind  = lazyregexp.New(`/[0-9a-f]{64}(/| )|` + unknownUID)
)

// requestedOptions returns the mount options that are not defaults of the file system. The mount
// call must have requested these options. The first is rw or ro.
func requestedOptions(options string) []string {
	all := strings.Split(options, ",")
	asked := all[:1:1]
	for _, option := range all[1:] {
		name, _, _ := strings.Cut(option, "=")
		if slices.Contains([]string{"noexec", "nosuid", "nodev", "noatime", "nodiratime", "sync", "dirsync", "context"}, name) {
			asked = append(asked, option)
		}
	}
	slices.Sort(asked[1:])
	return asked
}

// entries returns the paths of a listing that can be compared.
func (s *side) entries(l *listing, drivers map[string]bool) []string {
	var kept []string
	for _, entry := range l.raw {
		entry = s.names.in(entry)
		if s.bystander(entry, drivers) {
			s.allow(Bystanders, "")
			continue
		}
		if endMessage().MatchString(entry) {
			s.allow(Identities, "")
			entry = endMessage().ReplaceAllString(entry, "$1/<termination log>")
		}
		if mount().MatchString(entry) {
			s.allow(MountSource, "")
			entry = mount().ReplaceAllStringFunc(entry, func(found string) string {
				parts := mount().FindStringSubmatch(found)
				return parts[1] + "[mount " + strings.Join(requestedOptions(parts[2]), ",") + "]"
			})
		}
		kept = append(kept, entry)
	}
	slices.Sort(kept)
	return kept
}

// blockDirs are created for the first raw block volume of a node and stay.
var blockDirs = lazyregexp.New(`^plugins/kubernetes\.io/csi/volumeDevices/((publish|staging)/)? `)

// pluginDirs are created for the first staged volume and stay.
var pluginDirs = lazyregexp.New(`^plugins/kubernetes\.io/(csi/)? `)

// stagingDirs is the parent of the drivers' directories of staged file systems.
const stagingDirs = "plugins/kubernetes.io/csi/"

// bystander reports whether a path belongs to a driver that takes no part, or is a leftover from
// before the scenario.
func (s *side) bystander(entry string, drivers map[string]bool) bool {
	found := ofDriver().FindStringSubmatch(entry)
	if found != nil && found[1] != "kubernetes.io" && !drivers[found[1]+found[2]] {
		return true
	}
	if found != nil && strings.HasPrefix(entry, stagingDirs) && !s.staged[found[1]] {
		return true
	}
	if pluginDirs().MatchString(entry) && len(s.staged) == 0 && !s.block {
		return true
	}
	if blockDirs().MatchString(entry) && !s.block {
		return true
	}
	return leftBehind().MatchString(entry)
}

// compareFiles compares the listings of each node in order.
func (d *comparison) compareFiles() {
	byNode := func(s *side) map[string][]*listing {
		all := map[string][]*listing{}
		for _, l := range s.listings {
			all[l.node] = append(all[l.node], l)
		}
		return all
	}
	d.shareLayout()
	a, b := byNode(d.a), byNode(d.b)
	for _, node := range union(a, b, strings.Compare) {
		rows := align(len(a[node]), len(b[node]), costs{
			pair: func(i, j int) float64 {
				if a[node][i].moment == b[node][j].moment {
					return 0
				}
				return 1.5
			},
			onlyA: constant(1), onlyB: constant(1),
		})
		for _, row := range rows {
			d.compareListing(node, at(a[node], row.a), at(b[node], row.b))
		}
	}
}

// shareLayout gives each side the directories that the volumes of the other side need.
func (d *comparison) shareLayout() {
	d.a.block = d.a.block || d.b.block
	d.b.block = d.a.block
	for driver := range d.a.staged {
		d.b.staged[driver] = true
	}
	for driver := range d.b.staged {
		d.a.staged[driver] = true
	}
}

func at(all []*listing, i int) *listing {
	if i < 0 {
		return nil
	}
	return all[i]
}

func (d *comparison) compareListing(node string, a, b *listing) {
	if a == nil || b == nil {
		row, where := Row{}, "B"
		if a != nil {
			row.A, where = cell(a.at, a.moment), "A"
		} else {
			row.B = cell(b.at, b.moment)
		}
		d.differ(Files, "listing of "+node, "is only in "+where, []Row{row}, 0)
		return
	}
	d.compared(Files)
	drivers := d.plays()
	inA, inB := d.a.entries(a, drivers), d.b.entries(b, drivers)
	rows := align(len(inA), len(inB), costs{
		pair: func(i, j int) float64 {
			switch {
			case inA[i] == inB[j]:
				return 0
			case entryPath(inA[i]) == entryPath(inB[j]):
				return 1
			default:
				return 9
			}
		},
		onlyA: constant(1), onlyB: constant(1),
	})
	shown := make([]Row, len(rows))
	for i, row := range rows {
		if row.a >= 0 {
			shown[i].A = cell(a.at, inA[row.a])
		}
		if row.b >= 0 {
			shown[i].B = cell(b.at, inB[row.b])
		}
		shown[i].Same = shown[i].A.Text == shown[i].B.Text
	}
	for i, row := range shown {
		switch {
		case row.Same:
		case row.B.Text == "":
			d.differ(Files, node+", "+a.moment, "is only in A: "+entryPath(row.A.Text), shown, i)
		case row.A.Text == "":
			d.differ(Files, node+", "+a.moment, "is only in B: "+entryPath(row.B.Text), shown, i)
		default:
			d.differ(Files, node+", "+a.moment, entryPath(row.A.Text), shown, i)
		}
	}
}

// entryPath returns the path of an entry, without mode, mount or content.
func entryPath(entry string) string { return besidesPath().ReplaceAllString(entry, "") }
