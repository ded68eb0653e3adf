package deploy

import (
	"cmp"
	"strings"
)

// Pinned are the images of sidecars, in the versions that the simulation follows.
var Pinned = map[string]string{
	"csi-provisioner":       "registry.k8s.io/sig-storage/csi-provisioner:v6.3.0",
	"csi-attacher":          "registry.k8s.io/sig-storage/csi-attacher:v4.12.0",
	"csi-resizer":           "registry.k8s.io/sig-storage/csi-resizer:v2.2.0",
	"csi-snapshotter":       "registry.k8s.io/sig-storage/csi-snapshotter:v8.6.0",
	"snapshot-controller":   "registry.k8s.io/sig-storage/snapshot-controller:v8.6.0",
	"node-driver-registrar": "registry.k8s.io/sig-storage/csi-node-driver-registrar:v2.17.0",
}

func (o Options) image(sidecar string) string { return cmp.Or(o.Images[sidecar], Pinned[sidecar]) }

// SidecarImages returns the images of a driver's sidecars.
func (o Options) SidecarImages(d Driver) (all []string) {
	if d.Own != nil {
		return d.Own.Images(o)
	}
	for _, s := range d.Sidecars {
		all = append(all, o.image(s))
	}
	if d.Node != nil {
		all = append(all, o.image("node-driver-registrar"))
	}
	return all
}

// SnapshotImages returns the images that the kinds of snapshots need.
func (o Options) SnapshotImages() []string { return []string{o.image(SnapshotController)} }

func fields(words string) []string { return strings.Fields(words) }

// Sleeps reports whether an image only sleeps. csisim builds such images, as replacements for any
// container.
func Sleeps(image string) bool { return strings.HasPrefix(image, "registry.local/") }
