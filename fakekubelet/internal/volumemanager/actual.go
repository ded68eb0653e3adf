package volumemanager

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/internal/world/ordered"
	"github.com/csisim/csisim/internal/world/store"
)

// actual is the actual state of world: the attached, staged and published volumes.
type actual struct {
	volumes map[string]*held
	ofPod   map[types.UID]ordered.Set[string]
}

// ternary is yes, no, or unknown.
type ternary int

const (
	unknown ternary = iota
	no
	yes
)

// deviceState is the state of a volume's staging.
type deviceState string

const (
	notMounted      deviceState = "NotMounted"
	globallyMounted deviceState = "GloballyMounted"
	deviceUncertain deviceState = "Uncertain"
)

// held is a volume of this node. An entry that is neither staged nor used by a pod is dropped at
// the next pass.
type held struct {
	name       string
	spec       *csi.Spec
	attachable ternary // unknown only after reconstruction
	device     deviceState
	pods       ordered.Map[types.UID, *heldBy]
	// reconstructed volumes never lose an uncertain device to a final error. K-ERR-3
	reconstructed bool
	// label is the SELinux label of its mount; empty for no label, nil if it is not decided yet.
	// K-SEL-2
	label *string

	// size is the claim size to which the volume has been expanded; zero if it is unknown. K-EXP-3
	size resource.Quantity
	// devicePath is the device of a raw block volume. K-BLK-7
	devicePath string
	// inUseError: the driver cannot expand a volume in use. K-EXP-13
	inUseError bool
	// expansionFailed: an expansion has failed for good. K-EXP-12
	expansionFailed bool
	// awaited is a claim that needs a status change before the next attempt to expand it. K-EXP-7
	awaited *store.Watcher[*corev1.PersistentVolumeClaim]
}

// context returns the label of the volume's mount, if it is known.
func (v *held) context() string {
	if v.label == nil {
		return ""
	}
	return *v.label
}

// setDevice records the staging state of the volume and its label.
func (v *held) setDevice(state deviceState, label string) {
	v.device = state
	if label != "" {
		v.label = &label
	}
}

// podState is the state of a volume's publication for one pod.
type podState string

const (
	mounted   podState = "Mounted"
	uncertain podState = "Uncertain"
)

// heldBy is one pod's use of a volume.
type heldBy struct {
	uid           types.UID
	spec          *csi.Spec
	state         podState
	remount       bool // requiresRepublish. K-PUB-16
	reconstructed bool
}

func newActual() *actual {
	return &actual{volumes: map[string]*held{}, ofPod: map[types.UID]ordered.Set[string]{}}
}

// attach adds a volume that is attached, or needs no attaching.
func (a *actual) attach(name string, spec *csi.Spec, attachable ternary) *held {
	v := a.volumes[name]
	if v == nil {
		v = &held{name: name, device: notMounted}
		a.volumes[name] = v
	}
	v.spec, v.attachable = spec, attachable
	return v
}

func (a *actual) drop(name string) {
	a.volumes[name].stopAwaiting()
	delete(a.volumes, name)
}

func (a *actual) setPod(v *held, uid types.UID, spec *csi.Spec, state podState, label string) *heldBy {
	if v.label == nil {
		v.label = &label
	}
	by := v.pods.Get(uid)
	if by == nil {
		by = &heldBy{uid: uid}
		v.pods.Set(uid, by)
	}
	by.spec, by.state = spec, state
	a.ofPod[uid] = a.ofPod[uid].With(v.name)
	return by
}

// has reports whether the volume is certainly published for a pod, and need not be published again.
func (v *held) has(uid types.UID) bool {
	by := v.pods.Get(uid)
	return by != nil && by.state != uncertain && !by.remount
}

func (a *actual) removePod(v *held, uid types.UID) {
	v.pods.Delete(uid)
	if a.ofPod[uid] = a.ofPod[uid].Without(v.name); len(a.ofPod[uid]) == 0 {
		delete(a.ofPod, uid)
	}
}

func (a *actual) pod(name string, uid types.UID) *heldBy {
	v := a.volumes[name]
	if v == nil {
		return nil
	}
	return v.pods.Get(uid)
}

// mountedElsewhere reports whether the volume is, or may be, published for another pod. K-MNT-3
func (v *held) mountedElsewhere(uid types.UID) bool {
	return slices.ContainsFunc(v.pods, func(by ordered.Entry[types.UID, *heldBy]) bool { return by.Key != uid })
}

// deviceFailed is the device's state after a failed stage. K-ERR-1
func (v *held) deviceFailed(label string, err error) {
	switch {
	case csi.IsUncertain(err):
		v.setDevice(deviceUncertain, label)
	case csi.IsFinal(err) && v.device == deviceUncertain && !v.reconstructed:
		v.device = notMounted
	}
}

// podFailed is the pod's state after a failed publish; remounts change nothing. K-ERR-2
func (a *actual) podFailed(v *held, by *wantedBy, err error) {
	uid := by.pod.UID
	was := v.pods.Get(uid)
	switch {
	case was != nil && was.state == mounted:
	case csi.IsUncertain(err):
		a.setPod(v, uid, by.spec, uncertain, by.label)
	case csi.IsFinal(err) && was != nil && !was.reconstructed:
		a.removePod(v, uid)
	}
}
