package main

import (
	"strings"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/world/store"
)

// tables are all objects that the page shows. There are always rows, never null.
func (l *lookout) tables() []pageTable {
	s := l.cluster.World.Store
	all := []pageTable{
		tableOf(s, "Nodes", []string{"Node", "State", "Drivers"}, l.node),
		tableOf(s, "Drivers", []string{"Driver", "Registered on", "Attach"}, l.driver),
		tableOf(s, "Pods", []string{"Pod", "Phase", "Node", "Claims"}, l.pod),
		tableOf(s, "Claims", []string{"Claim", "Phase", "Size", "Class"}, l.claim),
		tableOf(s, "Volumes", []string{"Volume", "Phase", "Claim", "Handle"}, l.volume).of(47, 13, 20, 20),
		tableOf(s, "Attachments", []string{"Volume", "Node", "State", "Driver"}, l.attachment).of(47, 13, 16, 24),
	}
	if snapshots := tableOf(s, "Snapshots", []string{"Snapshot", "State", "Of"}, l.snapshot); len(snapshots.Rows) > 0 {
		all = append(all, snapshots)
	}
	return append(all, l.mounts())
}

func tableOf[T store.Object](s *store.Store, title string, columns []string, row func(T) pageRow) pageTable {
	t := pageTable{Title: title, Columns: columns, Rows: []pageRow{}}
	for obj := range store.List[T](s, "") {
		t.Rows = append(t.Rows, row(obj))
	}
	return t
}

// of sets the widths of the columns, in per cent.
func (t pageTable) of(widths ...int) pageTable {
	t.Widths = widths
	return t
}

// keyOf names an object on the page.
func keyOf(kind string, obj store.Object) string { return kind + " " + store.KeyOf(obj).String() }

func plain(text string) pageCell { return pageCell{Text: text} }

// toned is a text that is good, or waits to be.
func toned(text string, good bool) pageCell {
	if good {
		return pageCell{text, "good"}
	}
	return pageCell{text, "wait"}
}

func (l *lookout) node(n *corev1.Node) pageRow {
	state := pageCell{"not ready", "bad"}
	for _, condition := range n.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
			state = pageCell{"ready", "good"}
		}
	}
	var drivers []string
	if registered, ok := store.Get[*storagev1.CSINode](l.cluster.World.Store, store.KeyOf(n)); ok {
		for _, d := range registered.Spec.Drivers {
			drivers = append(drivers, d.Name)
		}
	}
	return pageRow{Key: keyOf("Node", n), Cells: []pageCell{plain(n.Name), state, plain(strings.Join(drivers, ", "))}}
}

func (l *lookout) driver(d *storagev1.CSIDriver) pageRow {
	var nodes []string
	for n := range store.List[*storagev1.CSINode](l.cluster.World.Store, "") {
		for _, registered := range n.Spec.Drivers {
			if registered.Name == d.Name {
				nodes = append(nodes, n.Name)
			}
		}
	}
	attach := "needed"
	if required := d.Spec.AttachRequired; required != nil && !*required {
		attach = "not needed"
	}
	return pageRow{Key: keyOf("CSIDriver", d), Cells: []pageCell{plain(d.Name), toned(strings.Join(nodes, ", "), true), plain(attach)}}
}

func (l *lookout) pod(p *corev1.Pod) pageRow {
	row := pageRow{Key: keyOf("Pod", p)}
	var claims []string
	for _, v := range p.Spec.Volumes {
		name := ""
		switch {
		case v.PersistentVolumeClaim != nil:
			name = v.PersistentVolumeClaim.ClaimName
		case v.Ephemeral != nil:
			name = p.Name + "-" + v.Name
		default:
			continue
		}
		claims = append(claims, name)
		row.With = append(row.With, "PersistentVolumeClaim "+p.Namespace+"/"+name)
	}
	phase := toned(string(p.Status.Phase), p.Status.Phase == corev1.PodRunning || p.Status.Phase == corev1.PodSucceeded)
	if p.DeletionTimestamp != nil {
		phase = pageCell{"Terminating", "wait"}
	}
	row.Cells = []pageCell{plain(shortName(p)), phase, plain(p.Spec.NodeName), plain(strings.Join(claims, ", "))}
	return row
}

func (l *lookout) claim(c *corev1.PersistentVolumeClaim) pageRow {
	size := c.Status.Capacity.Storage()
	if size.IsZero() {
		size = c.Spec.Resources.Requests.Storage()
	}
	class := ""
	if c.Spec.StorageClassName != nil {
		class = *c.Spec.StorageClassName
	}
	row := pageRow{Key: keyOf("PersistentVolumeClaim", c), Cells: []pageCell{
		plain(shortName(c)), toned(string(c.Status.Phase), c.Status.Phase == corev1.ClaimBound), plain(size.String()), plain(class),
	}}
	if c.Spec.VolumeName != "" {
		row.With = []string{"PersistentVolume " + c.Spec.VolumeName}
	}
	return row
}

func (l *lookout) volume(v *corev1.PersistentVolume) pageRow {
	row := pageRow{Key: keyOf("PersistentVolume", v)}
	claim, handle := "", ""
	if ref := v.Spec.ClaimRef; ref != nil {
		claim = inDefault(ref.Namespace, ref.Name)
		row.With = []string{"PersistentVolumeClaim " + ref.Namespace + "/" + ref.Name}
	}
	if v.Spec.CSI != nil {
		handle = v.Spec.CSI.VolumeHandle
	}
	row.Cells = []pageCell{plain(v.Name), toned(string(v.Status.Phase), v.Status.Phase == corev1.VolumeBound), plain(claim), plain(handle)}
	return row
}

func (l *lookout) attachment(a *storagev1.VolumeAttachment) pageRow {
	row := pageRow{Key: keyOf("VolumeAttachment", a)}
	volume := "inline"
	if name := a.Spec.Source.PersistentVolumeName; name != nil {
		volume = *name
		row.With = []string{"PersistentVolume " + volume}
	}
	state := toned("attaching", false)
	switch {
	case a.Status.DetachError != nil:
		state = pageCell{"detach failed", "bad"}
	case a.Status.AttachError != nil:
		state = pageCell{"attach failed", "bad"}
	case a.DeletionTimestamp != nil:
		state = toned("detaching", false)
	case a.Status.Attached:
		state = toned("attached", true)
	}
	row.Cells = []pageCell{plain(volume), plain(a.Spec.NodeName), state, plain(a.Spec.Attacher)}
	return row
}

func (l *lookout) snapshot(s *snapshotv1.VolumeSnapshot) pageRow {
	ready := s.Status != nil && s.Status.ReadyToUse != nil && *s.Status.ReadyToUse
	state, of := "taking", ""
	if ready {
		state = "ready"
	}
	if claim := s.Spec.Source.PersistentVolumeClaimName; claim != nil {
		of = *claim
	}
	return pageRow{Key: keyOf("VolumeSnapshot", s), Cells: []pageCell{plain(shortName(s)), toned(state, ready), plain(of)}}
}

// mounts are those on all nodes.
func (l *lookout) mounts() pageTable {
	t := pageTable{Title: "Mounts", Columns: []string{"Node", "Target", "Source"}, Widths: []int{12, 52, 36}, Rows: []pageRow{}}
	for _, node := range l.cluster.Nodes() {
		mounts, err := l.cluster.Mounts(node)
		if err != nil {
			t.Rows = append(t.Rows, pageRow{Key: "Node " + node, Cells: []pageCell{plain(node), {err.Error(), "bad"}, plain("")}})
		}
		for _, m := range mounts {
			source := m.Source
			if m.Root != "" && m.Root != "/" {
				source = m.Root
			}
			key := "Mount " + node + ":" + m.Target
			t.Rows = append(t.Rows, pageRow{Key: key, With: l.volumesOf(m.Target), Cells: []pageCell{plain(node), plain(m.Target), plain(source)}})
		}
	}
	return t
}

// volumesOf are the volumes whose names stand in a path.
func (l *lookout) volumesOf(path string) []string {
	var keys []string
	for v := range store.List[*corev1.PersistentVolume](l.cluster.World.Store, "") {
		if strings.Contains(path, "/"+v.Name+"/") {
			keys = append(keys, keyOf("PersistentVolume", v))
		}
	}
	return keys
}

func shortName(obj store.Object) string { return inDefault(obj.GetNamespace(), obj.GetName()) }

// inDefault leaves out the namespace in which most objects are.
func inDefault(namespace, name string) string {
	if namespace == corev1.NamespaceDefault {
		return name
	}
	return namespace + "/" + name
}
