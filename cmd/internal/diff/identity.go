package diff

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/world/lazyregexp"
	"github.com/csisim/csisim/internal/world/trace"
)

// identities maps the names that a run generates to their roles.
type identities struct {
	role    map[string]string // by names in the trace
	kind    map[string]string // of each name: "uid", "volume id" ...
	taken   map[string]int    // how often a role was assigned, to distinguish successive objects
	volume  map[string]string // volume id, to the key of its volume
	created map[string]string // name in CreateVolume, to the key of the volume
	drivers map[string]bool   // drivers that take part
}

// discover reads the identities of a trace.
func discover(lines []trace.Line) *identities {
	n := &identities{
		role: map[string]string{}, kind: map[string]string{}, taken: map[string]int{},
		volume: map[string]string{}, created: map[string]string{}, drivers: map[string]bool{},
	}
	n.timed(lines)
	n.objects(lines, false)
	for _, l := range byEnd(lines) {
		n.made(l)
	}
	n.derived(lines)
	n.objects(lines, true)
	return n
}

// timed records the names of cron jobs and their jobs, which contain times. The cron jobs of one
// claim share a role, because two cron jobs have one name if they are created within a second.
func (n *identities) timed(lines []trace.Line) {
	for _, l := range lines {
		base := timedName().FindStringSubmatch(l.Name)
		switch {
		case base == nil || l.Ev != "ADDED":
		case strings.HasSuffix(l.R, "cronjobs"):
			name := path.Base(l.Name)
			n.role[name], n.kind[name] = "<cron job of "+base[1]+">", "name"
		case strings.HasSuffix(l.R, "jobs"):
			n.is(path.Base(l.Name), "name", "job of "+base[1])
		}
	}
}

// timedName matches a name that ends with seconds since 1970.
var timedName = lazyregexp.New(`^(.+)-\d{10}$`)

// byEnd returns the lines in the order of their ends, because the results of a call exist only
// after its end.
func byEnd(lines []trace.Line) []trace.Line {
	ordered := slices.Clone(lines)
	slices.SortStableFunc(ordered, func(x, y trace.Line) int { return cmp.Compare(x.T+x.Ms, y.T+y.Ms) })
	return ordered
}

// is assigns a role to a name, unless the name already has a role. A second name in the same role
// gets a number.
func (n *identities) is(name, kind, role string) {
	if name == "" || n.role[name] != "" {
		return
	}
	n.taken[role]++
	if again := n.taken[role]; again > 1 {
		role = fmt.Sprintf("%s (%d)", role, again)
	}
	n.role[name], n.kind[name] = "<"+role+">", kind
}

// generated are the resources with object names that are derived from other objects.
var generated = map[string]bool{"persistentvolumes": true, "volumeattachments": true, "volumesnapshotcontents": true}

// objects records the uids of objects: either of objects with derived names, or of all others.
func (n *identities) objects(lines []trace.Line, named bool) {
	for _, l := range lines {
		if l.K != trace.API || !watched[l.R] || generated[l.R] != named {
			continue
		}
		role := "uid of " + singular(l.R) + " " + n.in(l.Name)
		if l.Ev == "DELETED" && n.taken[role] == 0 {
			n.taken[role]++ // it existed before the trace began
		}
		n.is(text(l.Obj, "metadata", "uid"), "uid", role)
		n.object(l)
	}
}

// object records the drivers that an object names.
func (n *identities) object(l trace.Line) {
	for _, place := range []any{l.Obj, l.Patch} {
		for _, path := range [][]string{{"spec", "attacher"}, {"spec", "csi", "driver"}, {"spec", "driver"}} {
			n.takesPart(text(place, path...))
		}
		n.takesPart(text(place, "metadata", "annotations", "volume.kubernetes.io/storage-provisioner"))
		for _, v := range list(field(place, "spec", "volumes")) {
			n.takesPart(text(v, "csi", "driver"))
		}
	}
}

func (n *identities) takesPart(driver string) {
	if driver != "" && !strings.HasPrefix(driver, "kubernetes.io/") {
		n.drivers[driver] = true
	}
}

// made records the volumes and snapshots that drivers created. The key of a volume is its claim;
// without a claim it is the volume id.
func (n *identities) made(l trace.Line) {
	switch {
	case l.M == "Controller/CreateVolume":
		name := text(l.Req, "name")
		key := "volume of " + n.claimOf(name)
		n.created[name] = key
		n.volumeID(text(l.Resp, "volume", "volume_id"), key)
	case l.M == "Controller/CreateSnapshot":
		n.is(text(l.Resp, "snapshot", "snapshot_id"), "snapshot id", "snapshot "+strings.TrimPrefix(n.in(text(l.Req, "name")), "snapshot-"))
	case l.M == "GroupController/CreateVolumeGroupSnapshot":
		key := strings.TrimPrefix(n.in(text(l.Req, "name")), "groupsnapshot-")
		n.is(text(l.Resp, "group_snapshot", "group_snapshot_id"), "group snapshot id", "group snapshot "+key)
	case l.M == "Identity/GetPluginInfo":
		n.takesPart(text(l.Resp, "name"))
	case l.R == "persistentvolumes":
		object, _ := l.Obj.(map[string]any)
		handle, claim := text(object, "spec", "csi", "volumeHandle"), text(object, "spec", "claimRef", "uid")
		if handle != "" && l.Name == "pvc-"+claim && n.volume[handle] == "" {
			n.volumeID(handle, "volume of "+n.claimOf(l.Name))
		}
	}
}

func (n *identities) volumeID(id, key string) {
	if id == "" {
		return
	}
	n.is(id, "volume id", key)
	if n.volume[id] == "" {
		n.volume[id] = key
	}
}

// claimOf returns the claim of a generated volume name.
func (n *identities) claimOf(name string) string {
	role := n.role[strings.TrimPrefix(name, "pvc-")]
	if role == "" {
		return n.in(name)
	}
	return strings.TrimSuffix(strings.TrimPrefix(role, "<uid of "), ">")
}

// derived records the names that Kubernetes computes from volume ids: staging directories,
// VolumeAttachments, inline volumes. A wrong name is not replaced, and therefore differs.
func (n *identities) derived(lines []trace.Line) {
	nodes := map[string]bool{}
	for _, l := range lines {
		if l.R == "nodes" || l.R == "csinodes" {
			nodes[l.Name] = true
		}
		nodes[l.Node] = true
		if object, ok := l.Obj.(map[string]any); ok && l.R == "pods" {
			n.inline(l.Name, object)
		}
		for _, place := range []any{l.Obj, l.Patch, l.Req} {
			eachString(place, n.handle)
		}
	}
	delete(nodes, "")
	for _, handle := range sortedKeys(n.volume) {
		n.is(sum(handle), "staging directory", strings.Trim(stagingDir(n.volume[handle]), "<>"))
		for _, driver := range sortedKeys(n.drivers) {
			for _, node := range sortedKeys(nodes) {
				n.is("csi-"+sum(handle+driver+node), "attachment name", "attachment of "+n.volume[handle]+" to "+node)
			}
		}
	}
}

// stagingDir returns the role of the directory in which a volume is staged.
func stagingDir(volume string) string { return "<sha256 of " + volume + ">" }

// inline records the handles of a pod's inline volumes.
func (n *identities) inline(pod string, object map[string]any) {
	uid := text(object, "metadata", "uid")
	for _, v := range list(field(object, "spec", "volumes")) {
		if _, ok := field(v, "csi").(map[string]any); ok && uid != "" {
			name := text(v, "name")
			n.volumeID("csi-"+sum(uid+name), "inline volume "+name+" of pod "+pod)
		}
	}
}

// inlineOf returns the keys of a pod's inline volumes.
func (n *identities) inlineOf(l trace.Line) (keys []string) {
	for _, v := range list(field(l.Obj, "spec", "volumes")) {
		if key := n.volume["csi-"+sum(text(l.Obj, "metadata", "uid")+text(v, "name"))]; key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// handle records a volume that no driver in the trace created. Its id is its key.
func (n *identities) handle(key, value string) {
	switch {
	case key == "volumeHandle" || key == "volume_id":
	case strings.HasPrefix(value, "kubernetes.io/csi/") && strings.Contains(value, "^"):
		driver, handle, _ := strings.Cut(strings.TrimPrefix(value, "kubernetes.io/csi/"), "^")
		n.takesPart(driver)
		value = handle
	default:
		return
	}
	if n.volume[value] == "" {
		n.volume[value] = "volume " + n.in(value)
	}
}

// volumeOf returns the key of the volume of a request; empty without one.
func (n *identities) volumeOf(request map[string]any) string {
	for _, name := range []string{"volume_id", "source_volume_id"} {
		if id := text(request, name); id != "" {
			return n.keyOf(id)
		}
	}
	if id := text(request, "snapshot_id"); id != "" {
		return n.in(id)
	}
	return n.created[text(request, "name")]
}

// keyOf returns the key of the volume with this id.
func (n *identities) keyOf(id string) string {
	if key := n.volume[id]; key != "" {
		return key
	}
	return "volume " + n.in(id)
}

func sum(text string) string {
	hash := sha256.Sum256([]byte(text))
	return hex.EncodeToString(hash[:])
}

// singular returns the name for one object of a resource.
func singular(resource string) string {
	switch resource {
	case "persistentvolumeclaims":
		return "claim"
	case "persistentvolumes":
		return "volume"
	case "volumeattachments":
		return "attachment"
	case "storageclasses":
		return "class"
	default:
		return strings.TrimSuffix(resource, "s")
	}
}

// leftOver reports whether a name belongs to an object from before the trace.
func leftOver(name string) bool { return strings.Contains(name, unknownUID) }
