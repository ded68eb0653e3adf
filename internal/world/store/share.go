package store

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// shared are the small maps that very many objects have alike: sizes, annotations. A
// map takes 300 to 700 bytes, and who changes an object changes a copy of it: so objects
// that are written have one map in common.
type shared struct {
	texts map[uint64]map[string]string
	sizes map[size]corev1.ResourceList
}

// maxShared is how many different maps are known; then it begins anew.
const maxShared = 4096

// size is a list of one resource.
type size struct {
	name   corev1.ResourceName
	amount resource.Quantity
}

// share lets an object that is written have its maps in common with others. What is
// behind its pointers it may have in common with its old state, and is left alone.
func (s *shared) share(obj Object, isNew bool) {
	switch obj := obj.(type) {
	case *corev1.PersistentVolumeClaim:
		s.text(&obj.Annotations)
		s.size(&obj.Spec.Resources.Requests)
		s.size(&obj.Status.Capacity)
	case *corev1.PersistentVolume:
		s.text(&obj.Annotations)
		s.size(&obj.Spec.Capacity)
		if isNew && obj.Spec.CSI != nil {
			s.text(&obj.Spec.CSI.VolumeAttributes)
		}
	case *storagev1.VolumeAttachment:
		s.text(&obj.Annotations)
	}
}

func (s *shared) text(m *map[string]string) {
	if len(*m) == 0 {
		return
	}
	var sum uint64
	for key, value := range *m { // in any order: it is a sum
		sum += mixed(mixed(14695981039346656037, key), value)
	}
	if known := s.texts[sum]; maps.Equal(known, *m) {
		*m = known
		return
	}
	if s.texts == nil || len(s.texts) >= maxShared {
		s.texts = map[uint64]map[string]string{}
	}
	s.texts[sum] = *m
}

// mixed is FNV-1a of a text, begun with hash.
func mixed(hash uint64, text string) uint64 {
	for i := range len(text) {
		hash = (hash ^ uint64(text[i])) * 1099511628211
	}
	return (hash ^ 0xff) * 1099511628211
}

// size shares lists that are equal to the last letter: "1Gi" is not "1024Mi".
func (s *shared) size(list *corev1.ResourceList) {
	if len(*list) != 1 {
		return
	}
	for name, amount := range *list {
		known, ok := s.sizes[size{name, amount}]
		if ok {
			*list = known
			return
		}
		if s.sizes == nil || len(s.sizes) >= maxShared {
			s.sizes = map[size]corev1.ResourceList{}
		}
		s.sizes[size{name, amount}] = *list
	}
}
