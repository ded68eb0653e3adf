package csi

import (
	"path"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Found is a volume of a pod that a scan of the disk has found.
type Found struct {
	Pod  types.UID
	Spec *Spec
	// Label is the SELinux label with which it was mounted, if any.
	Label string
}

// Lost is a volume of a pod with an unreadable data file.
type Lost struct {
	Pod  types.UID
	Name string // of its directory
}

// Scan looks for volumes in the pods' directories. It does not scan staging directories, so it does
// not find a staged volume without a pod directory. A volume without a usable data file is lost.
// K-RECON-1, K-RECON-2, K-RECON-5
func (pl *Plugin) Scan() (found []Found, lost []Lost) {
	add := func(pod types.UID, name, dir string, mode corev1.PersistentVolumeMode) {
		if data, err := pl.ReadData(dir); err == nil {
			found = append(found, Found{Pod: pod, Spec: specFrom(data, mode), Label: data[keyLabel]})
		} else {
			lost = append(lost, Lost{Pod: pod, Name: name})
		}
	}
	for _, pod := range pl.list(pl.PodsDir()) {
		uid := types.UID(pod)
		for _, name := range pl.list(path.Join(pl.PodDir(uid), "volumes", EscapedName)) {
			add(uid, name, path.Dir(pl.TargetPath(uid, name)), corev1.PersistentVolumeFilesystem)
		}
		for _, name := range pl.list(path.Join(pl.PodDir(uid), "volumeDevices", EscapedName)) {
			add(uid, name, pl.blockDataDir(name), corev1.PersistentVolumeBlock)
		}
	}
	return found, lost
}

// specFrom restores only the data on the disk: no access modes, options or attributes. K-RECON-2
func specFrom(d Data, mode corev1.PersistentVolumeMode) *Spec {
	if d[keyLifecycle] == ephemeral {
		return &Spec{Name: d[keySpec], Inline: &corev1.CSIVolumeSource{Driver: d[keyDriver]}}
	}
	return &Spec{Name: d[keySpec], PV: &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: d[keySpec]},
		Spec: corev1.PersistentVolumeSpec{
			VolumeMode: &mode,
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				CSI: &corev1.CSIPersistentVolumeSource{Driver: d[keyDriver], VolumeHandle: d[keyHandle]},
			},
		},
	}}
}

// list returns the names in a directory; none if it cannot be read.
func (pl *Plugin) list(dir string) []string {
	entries, err := pl.machine.ReadDir(dir)
	if err != nil {
		return nil
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}
