package store

import (
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// union knows the members of a struct of pointers of which one is set, by their
// JSON names.
type union struct{ names []string }

var (
	podSources    = unionOf[corev1.VolumeSource]()
	volumeSources = unionOf[corev1.PersistentVolumeSource]()
)

func unionOf[T any]() union {
	members := reflect.TypeFor[T]()
	u := union{make([]string, members.NumField())}
	for i := range u.names {
		u.names[i], _, _ = strings.Cut(members.Field(i).Tag.Get("json"), ",")
	}
	return u
}

// of returns the names of the members that are set in what the pointer points to,
// CSI last: the order in which the API server looks at them.
func (u union) of(pointer any) []string {
	v := reflect.ValueOf(pointer).Elem()
	var set []string
	for i, name := range u.names {
		if !v.Field(i).IsNil() {
			set = append(set, name)
		}
	}
	if i := slices.Index(set, "csi"); i >= 0 {
		set = append(slices.Delete(set, i, i+1), "csi")
	}
	return set
}
