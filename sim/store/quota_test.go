package store_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/sim/store"
)

func quota(hard map[string]string, scopes ...corev1.ResourceQuotaScope) *corev1.ResourceQuota {
	q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "q"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{}, Scopes: scopes}}
	for name, amount := range hard {
		q.Spec.Hard[corev1.ResourceName(name)] = resource.MustParse(amount)
	}
	return q
}

// Claim "there" of class std and 1Gi is in the namespace already; claim c asks for 2Gi.
func TestQuotasOfClaims(t *testing.T) {
	for says, c := range map[string]struct {
		hard    map[string]string
		scopes  []corev1.ResourceQuotaScope
		class   string
		refused string
	}{
		"room for one more":                 {hard: map[string]string{"persistentvolumeclaims": "2", "requests.storage": "3Gi"}, class: "std"},
		"too many":                          {hard: map[string]string{"persistentvolumeclaims": "1"}, class: "std", refused: "requested: persistentvolumeclaims=1, used: persistentvolumeclaims=1, limited: persistentvolumeclaims=1"},
		"too many objects":                  {hard: map[string]string{"count/persistentvolumeclaims": "1"}, class: "std", refused: "requested: count/persistentvolumeclaims=1, used: count/persistentvolumeclaims=1, limited: count/persistentvolumeclaims=1"},
		"too much":                          {hard: map[string]string{"requests.storage": "2Gi"}, class: "std", refused: "requested: requests.storage=2Gi, used: requests.storage=1Gi, limited: requests.storage=2Gi"},
		"too many and too much":             {hard: map[string]string{"requests.storage": "1Gi", "persistentvolumeclaims": "1", "pods": "0"}, class: "std", refused: "requested: persistentvolumeclaims=1,requests.storage=2Gi, used: persistentvolumeclaims=1,requests.storage=1Gi, limited: persistentvolumeclaims=1,requests.storage=1Gi"},
		"too much of the class":             {hard: map[string]string{"std.storageclass.storage.k8s.io/requests.storage": "2Gi"}, class: "std", refused: "requested: std.storageclass.storage.k8s.io/requests.storage=2Gi, used: std.storageclass.storage.k8s.io/requests.storage=1Gi, limited: std.storageclass.storage.k8s.io/requests.storage=2Gi"},
		"none of another class":             {hard: map[string]string{"gold.storageclass.storage.k8s.io/persistentvolumeclaims": "0"}, class: "gold", refused: "requested: gold.storageclass.storage.k8s.io/persistentvolumeclaims=1, used: gold.storageclass.storage.k8s.io/persistentvolumeclaims=0, limited: gold.storageclass.storage.k8s.io/persistentvolumeclaims=0"},
		"another class is limited":          {hard: map[string]string{"std.storageclass.storage.k8s.io/persistentvolumeclaims": "1"}, class: "gold"},
		"a quota about pods that terminate": {hard: map[string]string{"persistentvolumeclaims": "0"}, scopes: []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeTerminating}, class: "std"},
	} {
		t.Run(says, func(t *testing.T) {
			s := store.New(store.Options{})
			asking := func(name, class, size string) *corev1.PersistentVolumeClaim {
				pvc := claim(name)
				pvc.Spec.StorageClassName, pvc.Spec.Resources.Requests = &class, storage(size)
				return pvc
			}
			create(t, s, asking("there", "std", "1Gi"))
			create(t, s, quota(c.hard, c.scopes...))
			_, err := store.Create(s, asking("c", c.class, "2Gi"))
			if c.refused == "" {
				require.NoError(t, err)
				return
			}
			require.True(t, apierrors.IsForbidden(err))
			assert.EqualError(t, err, `persistentvolumeclaims "c" is forbidden: exceeded quota: q, `+c.refused)
		})
	}
}

// What has been given to an expansion counts until it is taken back; what is not about the
// size is not refused.
func TestQuotasOfClaimsThatGrow(t *testing.T) {
	s := store.New(store.Options{})
	bound(t, s, true) // with 1Gi
	create(t, s, quota(map[string]string{"requests.storage": "3Gi", "persistentvolumeclaims": "0"}))
	_, err := store.Modify(s, inDefault("c"), request("4Gi"))
	assert.EqualError(t, err, `persistentvolumeclaims "c" is forbidden: exceeded quota: q, requested: requests.storage=3Gi, used: requests.storage=1Gi, limited: requests.storage=3Gi`)
	modify(t, s, inDefault("c"), request("3Gi"))
	modifyStatus(t, s, inDefault("c"), func(c *corev1.PersistentVolumeClaim) { c.Status.AllocatedResources = storage("3Gi") })
	modify(t, s, inDefault("c"), request("2Gi"))
	modify(t, s, inDefault("c"), request("3Gi"))
	modify(t, s, inDefault("c"), func(c *corev1.PersistentVolumeClaim) { c.Labels = map[string]string{"a": "b"} })
}
