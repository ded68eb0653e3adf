package kind_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/api/kind/kindtest"
	"github.com/csisim/csisim/internal/world/store"
)

func claimOf(name, amount, annotation string) *corev1.PersistentVolumeClaim {
	pvc := &corev1.PersistentVolumeClaim{ObjectMeta: kindtest.Named(name)}
	pvc.Annotations = map[string]string{"note": annotation, "other": "same"}
	pvc.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	pvc.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(amount)}
	return pvc
}

func TestEqualMapsOfObjectsAreShared(t *testing.T) {
	s := kind.NewStore(store.Options{Guard: true})
	at := func(m any) uintptr { return reflect.ValueOf(m).Pointer() }
	a, b := kindtest.Create(t, s, claimOf("a", "1Gi", "x")), kindtest.Create(t, s, claimOf("b", "1Gi", "x"))
	assert.Equal(t, at(a.Annotations), at(b.Annotations))
	assert.Equal(t, at(a.Spec.Resources.Requests), at(b.Spec.Resources.Requests))
	c := kindtest.Create(t, s, claimOf("c", "1024Mi", "y"))
	assert.Equal(t, map[string]string{"note": "y", "other": "same"}, c.Annotations)
	assert.Equal(t, "1Gi", c.Spec.Resources.Requests.Storage().String())
	assert.NotEqual(t, at(a.Spec.Resources.Requests), at(kindtest.Create(t, s, claimOf("d", "2Gi", "x")).Spec.Resources.Requests))

	changed := kindtest.Modify(t, s, kindtest.InDefault("a"), func(pvc *corev1.PersistentVolumeClaim) { pvc.Annotations["note"] = "z" })
	assert.Equal(t, "z", changed.Annotations["note"])
	for _, kept := range []*corev1.PersistentVolumeClaim{a, b} {
		assert.Equal(t, "x", kept.Annotations["note"])
	}
}
