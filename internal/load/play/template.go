package play

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/store"
)

// Name and Node are placeholders for the name of a life and for its node in the objects of a
// Template.
const (
	Name = "csisim-load-name"
	Node = "csisim-load-node"
)

// Template is a Workload of objects that differ in name and node only.
type Template struct {
	claims              []form
	pod, snapshot, more *form
}

// form is an object as JSON, and an empty one of its type.
type form struct {
	text string
	kind reflect.Type
}

// NewTemplate creates a workload from the objects of one life: its claims, its pod, and a snapshot,
// which may be nil. They contain Name and Node as placeholders.
func NewTemplate(claims []store.Object, pod, snapshot store.Object) (*Template, error) {
	t := &Template{}
	for _, c := range claims {
		f, err := formOf(c)
		if err != nil {
			return nil, err
		}
		t.claims = append(t.claims, *f)
		if claim, is := c.(*corev1.PersistentVolumeClaim); is {
			grown := claim.DeepCopy()
			size := grown.Spec.Resources.Requests[corev1.ResourceStorage]
			size.Add(size)
			grown.Spec.Resources.Requests[corev1.ResourceStorage] = size
			if t.more, err = formOf(grown); err != nil {
				return nil, err
			}
		}
	}
	var err error
	if t.pod, err = formOf(pod); err == nil && snapshot != nil {
		t.snapshot, err = formOf(snapshot)
	}
	return t, err
}

func formOf(o store.Object) (*form, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("make a template of %T %s: %w", o, o.GetName(), err)
	}
	return &form{string(text), reflect.TypeOf(o).Elem()}, nil
}

// of returns the object of a life. Its JSON was made from an object of the same type.
func (f *form) of(name, node string) store.Object {
	o := reflect.New(f.kind).Interface().(store.Object)
	text := strings.NewReplacer(Name, name, Node, node).Replace(f.text)
	if err := json.Unmarshal([]byte(text), o); err != nil {
		panic(fmt.Sprintf("read back %s: %v", text, err))
	}
	return o
}

// Claim returns the objects of a claim.
func (t *Template) Claim(name string) (all []store.Object) {
	for _, c := range t.claims {
		all = append(all, c.of(name, ""))
	}
	return all
}

// Pod returns a pod that uses the claim of its name.
func (t *Template) Pod(name, node string) store.Object { return t.pod.of(name, node) }

// Snapshot returns a snapshot of a claim.
func (t *Template) Snapshot(name string) store.Object { return t.snapshot.of(name, "") }

// Grown returns the claim with twice its size.
func (t *Template) Grown(name string) store.Object { return t.more.of(name, "") }

// Plain describes the usual workload: claims of a class, with pods that use them.
type Plain struct {
	Class, SnapshotClass string
	Size                 resource.Quantity
	Block                bool
}

// Template returns the workload.
func (w Plain) Template() (*Template, error) {
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: Name}, Spec: corev1.PersistentVolumeClaimSpec{
		StorageClassName: &w.Class, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: w.Size}},
	}}
	container := corev1.Container{Name: "main", Image: "registry.local/sleep:1", VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}}
	if w.Block {
		mode := corev1.PersistentVolumeBlock
		claim.Spec.VolumeMode = &mode
		container.VolumeMounts, container.VolumeDevices = nil, []corev1.VolumeDevice{{Name: "data", DevicePath: "/dev/xvda"}}
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: Name}, Spec: corev1.PodSpec{
		NodeSelector: map[string]string{corev1.LabelHostname: Node},
		Containers:   []corev1.Container{container},
		Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: Name},
		}}},
	}}
	source := Name
	snapshot := &snapshotv1.VolumeSnapshot{ObjectMeta: metav1.ObjectMeta{Name: Name}, Spec: snapshotv1.VolumeSnapshotSpec{
		VolumeSnapshotClassName: &w.SnapshotClass, Source: snapshotv1.VolumeSnapshotSource{PersistentVolumeClaimName: &source},
	}}
	return NewTemplate([]store.Object{claim}, pod, snapshot)
}
