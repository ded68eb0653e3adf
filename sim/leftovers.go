package sim

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakekubelet/csi"
	"github.com/csisim/csisim/sim/machine"
	"github.com/csisim/csisim/sim/store"
	"github.com/csisim/csisim/sim/volume"
)

// Leftover is something that no object of the cluster accounts for.
type Leftover struct {
	Kind   string // "mount", "directory", "volume data", "VolumeAttachment", "attachment", "volume"
	Node   string // empty for what lies outside the nodes
	Name   string
	Detail string
}

func (l Leftover) String() string {
	text := l.Kind + " " + l.Name
	if l.Node != "" {
		text += " on " + l.Node
	}
	if l.Detail != "" {
		text += ": " + l.Detail
	}
	return text
}

// Leftovers lists what should not exist any more, given the pods, claims and
// volumes that do: mounts and directories on nodes, VolumeAttachments, and what
// the mock driver's backend holds.
func (c *Cluster) Leftovers() []Leftover {
	uses := c.uses()
	var all []Leftover
	for _, n := range c.nodes {
		all = append(all, c.leftOnNode(n, uses[n.Name])...)
	}
	all = append(all, c.leftAttached(uses)...)
	for _, d := range c.drivers {
		all = append(all, c.leftInBackend(d)...)
	}
	return all
}

// use is what the pods of one node need: pod directories and volumes.
type use struct {
	pods    map[string]bool // by UID
	volumes map[string]bool // PV names
	handles map[string]bool // driver^handle
}

func (c *Cluster) uses() map[string]*use {
	all := map[string]*use{}
	for _, n := range c.nodes {
		all[n.Name] = &use{pods: map[string]bool{}, volumes: map[string]bool{}, handles: map[string]bool{}}
	}
	for pod := range store.List[*corev1.Pod](c.World.Store, "") {
		u := all[pod.Spec.NodeName]
		if u == nil {
			continue
		}
		u.pods[string(pod.UID)] = true
		for i := range pod.Spec.Volumes {
			key, _, ok := volume.ClaimOf(pod, &pod.Spec.Volumes[i])
			if !ok {
				continue
			}
			pvc, ok := store.Get[*corev1.PersistentVolumeClaim](c.World.Store, key)
			if !ok {
				continue
			}
			if pv, ok := store.Get[*corev1.PersistentVolume](c.World.Store, store.Key{Name: pvc.Spec.VolumeName}); ok {
				u.add(pv)
			}
		}
	}
	return all
}

func (u *use) add(pv *corev1.PersistentVolume) {
	u.volumes[pv.Name] = true
	if pv.Spec.CSI != nil {
		u.handles[volume.HandleHash(pv.Spec.CSI.VolumeHandle)] = true
	}
}

// accounts reports whether a path below the kubelet's directory belongs to a pod
// of the node or to a volume that such a pod uses.
func (u *use) accounts(name string) bool {
	for _, part := range strings.Split(name, "/") {
		if u.pods[part] || u.volumes[part] || u.handles[part] {
			return true
		}
	}
	return false
}

func (c *Cluster) leftOnNode(n *node, u *use) []Leftover {
	var left []Leftover
	mounts, err := n.machine.Mounts()
	if err != nil {
		left = append(left, Leftover{Kind: "mount table", Node: n.Name, Detail: err.Error()})
	}
	for _, m := range mounts {
		if strings.HasPrefix(m.Target, machine.KubeletDir+"/") && !u.accounts(m.Target) {
			left = append(left, Leftover{Kind: "mount", Node: n.Name, Name: m.Target, Detail: "of " + m.Root})
		}
	}
	for _, dir := range []string{csi.PodsDir, path.Join(machine.KubeletDir, "plugins", volume.Plugin)} {
		left = append(left, c.leftBelow(n, u, dir, c.stagesNot(n))...)
	}
	return left
}

// stagesNot are the drivers on the node that leave an empty globalmount
// directory behind for ever, which is the kubelet's doing. K-STAGE-2
func (c *Cluster) stagesNot(n *node) map[string]bool {
	drivers := map[string]bool{}
	for _, d := range c.drivers {
		if d.nodes[n.Name] != nil && c.Wire.StagesNot(d.Name) {
			drivers[d.Name] = true
		}
	}
	return drivers
}

// leftBelow lists the topmost directories and the files that are left.
func (c *Cluster) leftBelow(n *node, u *use, dir string, stagesNot map[string]bool) []Leftover {
	var left []Leftover
	entries, err := n.machine.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case u.accounts(name) || stagesNot[e.Name()]:
		case e.IsDir() && c.structural(dir, e):
			left = append(left, c.leftBelow(n, u, name, stagesNot)...)
		case e.Name() == "vol_data.json":
			left = append(left, Leftover{Kind: "volume data", Node: n.Name, Name: name})
		default:
			left = append(left, Leftover{Kind: "directory", Node: n.Name, Name: name})
		}
	}
	return left
}

// structural directories stay whether volumes are there or not: those of
// drivers, and those of raw block volumes.
func (c *Cluster) structural(dir string, e fs.DirEntry) bool {
	base := path.Join(machine.KubeletDir, "plugins", volume.Plugin)
	if dir == path.Join(base, "volumeDevices") {
		return e.Name() == "staging" || e.Name() == "publish"
	}
	return dir == base
}

// leftAttached lists VolumeAttachments without a pod that uses the volume there.
func (c *Cluster) leftAttached(uses map[string]*use) []Leftover {
	var left []Leftover
	for va := range store.List[*storagev1.VolumeAttachment](c.World.Store, "") {
		u, pv := uses[va.Spec.NodeName], va.Spec.Source.PersistentVolumeName
		if u == nil || pv == nil || !u.volumes[*pv] {
			left = append(left, Leftover{Kind: "VolumeAttachment", Node: va.Spec.NodeName, Name: va.Name})
		}
	}
	return left
}

// leftInBackend lists the mock driver's volumes without a PV, and attachments
// without a VolumeAttachment.
func (c *Cluster) leftInBackend(d *driver) []Leftover {
	if d.mock == nil {
		return nil
	}
	var left []Leftover
	for _, v := range d.mock.Volumes() {
		known := slices.ContainsFunc(d.Mock.Existing, func(e mock.ExistingVolume) bool { return e.ID == v.ID })
		for range store.Indexed[*corev1.PersistentVolume](c.World.Store, store.VolumesByHandle, d.Name+"^"+v.ID) {
			known = true
		}
		if !known {
			left = append(left, Leftover{Kind: "volume", Name: v.ID, Detail: fmt.Sprintf("%s of driver %s has no PersistentVolume", v.Name, d.Name)})
		}
	}
	for _, a := range d.mock.Attachments() {
		if !c.attachmentKnown(d, a.VolumeID, a.NodeID) {
			left = append(left, Leftover{Kind: "attachment", Name: a.VolumeID, Detail: fmt.Sprintf("to node id %s, in driver %s, has no VolumeAttachment", a.NodeID, d.Name)})
		}
	}
	return left
}

func (c *Cluster) attachmentKnown(d *driver, handle, nodeID string) bool {
	for _, n := range c.nodes {
		if d.nodeID(n.Name) != nodeID {
			continue
		}
		name := volume.AttachmentName(handle, d.Name, n.Name)
		if _, ok := store.Get[*storagev1.VolumeAttachment](c.World.Store, store.Key{Name: name}); ok {
			return true
		}
	}
	return false
}
