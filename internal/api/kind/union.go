package kind

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// union lists the members of a struct of pointers with exactly one set member. They have their JSON
// names and the order of the API server's checks.
type union struct{ members []member }

type member struct {
	name  string
	index int
}

var (
	podSources = unionOf[corev1.VolumeSource]("emptyDir", "hostPath", "gitRepo", "gcePersistentDisk", "awsElasticBlockStore", "secret",
		"nfs", "iscsi", "glusterfs", "persistentVolumeClaim", "rbd", "cinder", "cephfs", "quobyte", "flocker", "downwardAPI", "fc", "flexVolume",
		"configMap", "azureFile", "vsphereVolume", "photonPersistentDisk", "portworxVolume", "azureDisk", "storageos", "projected",
		"scaleIO", "csi", "ephemeral", "image")
	volumeSources = unionOf[corev1.PersistentVolumeSource]("hostPath", "gcePersistentDisk", "awsElasticBlockStore", "glusterfs",
		"flocker", "nfs", "rbd", "quobyte", "cephfs", "iscsi", "cinder", "fc", "flexVolume", "azureFile", "vsphereVolume",
		"photonPersistentDisk", "portworxVolume", "azureDisk", "scaleIO", "local", "storageos", "csi")
)

func unionOf[T any](order ...string) union {
	fields := reflect.TypeFor[T]()
	u := union{make([]member, fields.NumField())}
	for i := range u.members {
		name, _, _ := strings.Cut(fields.Field(i).Tag.Get("json"), ",")
		u.members[i] = member{name, i}
	}
	slices.SortStableFunc(u.members, func(a, b member) int {
		return cmp.Compare(slices.Index(order, a.name), slices.Index(order, b.name))
	})
	return u
}

// of returns the names of the members that are set in a struct.
func (u union) of(pointer any) []string {
	v := reflect.ValueOf(pointer).Elem()
	var set []string
	for _, m := range u.members {
		if !v.Field(m.index).IsNil() {
			set = append(set, m.name)
		}
	}
	return set
}

// copy copies one member of a struct to another.
func (u union) copy(to, from any, name string) {
	for _, m := range u.members {
		if m.name == name {
			reflect.ValueOf(to).Elem().Field(m.index).Set(reflect.ValueOf(from).Elem().Field(m.index))
		}
	}
}
