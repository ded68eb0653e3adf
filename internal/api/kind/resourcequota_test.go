package kind_test

import (
	"testing"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/api/kind/kindtest"
	"github.com/csisim/csisim/internal/world/store"
)

// quota returns a quota with limits in its status.
func quota(hard, used map[string]string, scopes ...corev1.ResourceQuotaScope) *corev1.ResourceQuota {
	return &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "q"},
		Spec:       corev1.ResourceQuotaSpec{Hard: list(hard), Scopes: scopes},
		Status:     corev1.ResourceQuotaStatus{Hard: list(hard), Used: list(used)},
	}
}

func list(amounts map[string]string) corev1.ResourceList {
	all := corev1.ResourceList{}
	for name, amount := range amounts { // any order: resources are independent
		all[corev1.ResourceName(name)] = resource.MustParse(amount)
	}
	return all
}

func createQuota(t *testing.T, s *store.Store, q *corev1.ResourceQuota) {
	t.Helper()
	kindtest.Create(t, s, q)
	kindtest.ModifyStatus(t, s, kindtest.InDefault("q"), func(now *corev1.ResourceQuota) { now.Status = q.Status })
}

func used(t *testing.T, s *store.Store) map[string]string {
	t.Helper()
	q, ok := store.Get[*corev1.ResourceQuota](s, kindtest.InDefault("q"))
	require.True(t, ok)
	texts := map[string]string{}
	for name, amount := range q.Status.Used { // any order: resources are independent
		texts[string(name)] = amount.String()
	}
	return texts
}

type amounts = map[string]string

// Claim c requests 2Gi of a class, and gold's attributes.
func TestQuotasOfClaims(t *testing.T) {
	const ofStd, ofGold = "std.storageclass.storage.k8s.io/requests.storage", "gold.storageclass.storage.k8s.io/persistentvolumeclaims"
	for says, c := range map[string]struct {
		hard, used amounts
		scope      corev1.ResourceQuotaScope
		class      string
		after      amounts
		refused    string
	}{
		"room for one more": {
			hard: amounts{"persistentvolumeclaims": "2", "requests.storage": "3Gi"}, used: amounts{"persistentvolumeclaims": "1", "requests.storage": "1Gi"},
			class: "std", after: amounts{"persistentvolumeclaims": "2", "requests.storage": "3Gi"},
		},
		"too many": {
			hard: amounts{"persistentvolumeclaims": "1"}, used: amounts{"persistentvolumeclaims": "1"}, class: "std",
			refused: "exceeded quota: q, requested: persistentvolumeclaims=1, used: persistentvolumeclaims=1, limited: persistentvolumeclaims=1",
		},
		"too many objects": {
			hard: amounts{"count/persistentvolumeclaims": "1"}, used: amounts{"count/persistentvolumeclaims": "1"}, class: "std",
			refused: "exceeded quota: q, requested: count/persistentvolumeclaims=1, used: count/persistentvolumeclaims=1, limited: count/persistentvolumeclaims=1",
		},
		"too much": {
			hard: amounts{"requests.storage": "2Gi"}, used: amounts{"requests.storage": "1Gi"}, class: "std",
			refused: "exceeded quota: q, requested: requests.storage=2Gi, used: requests.storage=1Gi, limited: requests.storage=2Gi",
		},
		"too many and too much": {
			hard:  amounts{"requests.storage": "1Gi", "persistentvolumeclaims": "1", "pods": "0"},
			used:  amounts{"requests.storage": "1Gi", "persistentvolumeclaims": "1"},
			class: "std",
			refused: "exceeded quota: q, requested: persistentvolumeclaims=1,requests.storage=2Gi, used: persistentvolumeclaims=1,requests.storage=1Gi, " +
				"limited: persistentvolumeclaims=1,requests.storage=1Gi",
		},
		"too much of the class": {
			hard: amounts{ofStd: "2Gi"}, used: amounts{ofStd: "1Gi"}, class: "std",
			refused: "exceeded quota: q, requested: " + ofStd + "=2Gi, used: " + ofStd + "=1Gi, limited: " + ofStd + "=2Gi",
		},
		"another class is limited": {hard: amounts{ofGold: "0"}, used: amounts{ofGold: "0"}, class: "std", after: amounts{ofGold: "0"}},
		"not counted yet": {
			hard: amounts{"persistentvolumeclaims": "5", "requests.storage": "5Gi"}, used: amounts{"requests.storage": "0"}, class: "std",
			refused: "status unknown for quota: q, resources: persistentvolumeclaims,requests.storage",
		},
		"about pods that terminate": {
			hard: amounts{"count/persistentvolumeclaims": "0"}, used: amounts{"count/persistentvolumeclaims": "0"}, scope: corev1.ResourceQuotaScopeTerminating,
			class: "std", after: amounts{"count/persistentvolumeclaims": "0"},
		},
		"about claims with attributes": {
			hard: amounts{"requests.storage": "1Gi"}, used: amounts{"requests.storage": "0"}, scope: corev1.ResourceQuotaScopeVolumeAttributesClass, class: "std",
			refused: "exceeded quota: q, requested: requests.storage=2Gi, used: requests.storage=0, limited: requests.storage=1Gi",
		},
	} {
		t.Run(says, func(t *testing.T) {
			s := kind.NewStore(store.Options{})
			var scopes []corev1.ResourceQuotaScope
			if c.scope != "" {
				scopes = append(scopes, c.scope)
			}
			createQuota(t, s, quota(c.hard, c.used, scopes...))
			pvc, attributes := kindtest.Claim("c"), "gold"
			pvc.Spec.StorageClassName, pvc.Spec.VolumeAttributesClassName = &c.class, &attributes
			pvc.Spec.Resources.Requests = kindtest.Storage("2Gi")
			_, err := store.Create(s, pvc)
			if c.refused == "" {
				require.NoError(t, err)
				assert.Equal(t, c.after, used(t, s))
				return
			}
			require.True(t, apierrors.IsForbidden(err))
			assert.EqualError(t, err, `persistentvolumeclaims "c" is forbidden: `+c.refused)
			assert.Equal(t, c.used, used(t, s))
		})
	}
}

// A quota limits nothing until its status has the limits.
func TestANewQuotaLimitsNothing(t *testing.T) {
	s := kind.NewStore(store.Options{})
	kindtest.Create(t, s, quota(amounts{"persistentvolumeclaims": "0"}, nil))
	kindtest.Create(t, s, kindtest.Claim("c"))
	assert.Empty(t, used(t, s))
}

// The allocated size of an expansion counts until it is reduced. Updates without a size change are
// not rejected, and writes of a status never are.
func TestQuotasOfClaimsThatGrow(t *testing.T) {
	s := kind.NewStore(store.Options{})
	bound(t, s, true) // with 1Gi
	createQuota(t, s, quota(amounts{"requests.storage": "3Gi", "persistentvolumeclaims": "0"}, amounts{"requests.storage": "1Gi", "persistentvolumeclaims": "1"}))
	_, err := store.Modify(s, kindtest.InDefault("c"), request("4Gi"))
	assert.EqualError(t, err, `persistentvolumeclaims "c" is forbidden: exceeded quota: q, requested: requests.storage=3Gi, used: requests.storage=1Gi, limited: requests.storage=3Gi`)
	kindtest.Modify(t, s, kindtest.InDefault("c"), request("3Gi"))
	assert.Equal(t, amounts{"requests.storage": "3Gi", "persistentvolumeclaims": "1"}, used(t, s))
	kindtest.ModifyStatus(t, s, kindtest.InDefault("c"), func(c *corev1.PersistentVolumeClaim) { c.Status.AllocatedResources = kindtest.Storage("3Gi") })
	kindtest.Modify(t, s, kindtest.InDefault("c"), request("2Gi"))
	kindtest.Modify(t, s, kindtest.InDefault("c"), request("3Gi"))
	kindtest.Modify(t, s, kindtest.InDefault("c"), func(c *corev1.PersistentVolumeClaim) { c.Labels = map[string]string{"a": "b"} })
	kindtest.ModifyStatus(t, s, kindtest.InDefault("c"), func(c *corev1.PersistentVolumeClaim) { c.Status.AllocatedResources = kindtest.Storage("5Gi") })
	assert.Equal(t, "5Gi", used(t, s)["requests.storage"])
}

// A claim that enters a quota's scope counts in full.
func TestAttributesClassesOfAClaimCountInScopes(t *testing.T) {
	s := kind.NewStore(store.Options{})
	bound(t, s, true) // with 1Gi
	q := quota(amounts{"requests.storage": "3Gi"}, amounts{"requests.storage": "0"})
	q.Spec.ScopeSelector = &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{
		{ScopeName: corev1.ResourceQuotaScopeVolumeAttributesClass, Operator: corev1.ScopeSelectorOpIn, Values: []string{"gold"}},
	}}
	createQuota(t, s, q)
	give := func(class string) {
		kindtest.Modify(t, s, kindtest.InDefault("c"), func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeAttributesClassName = &class })
	}
	give("silver")
	assert.Equal(t, amounts{"requests.storage": "0"}, used(t, s))
	give("gold")
	assert.Equal(t, amounts{"requests.storage": "1Gi"}, used(t, s))
}

// Objects of any kind are counted, but only at their creation, and not in a dry run.
func TestQuotasOfObjects(t *testing.T) {
	s := kind.NewStore(store.Options{})
	const snapshots = "count/volumesnapshots.snapshot.storage.k8s.io"
	createQuota(t, s, quota(amounts{snapshots: "1", "count/configmaps": "9"}, amounts{snapshots: "0", "count/configmaps": "0"}))
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "m"}}
	res, _ := store.ResourceNamed("configmaps")
	_, err := s.CreateObject(res, config, store.DryRun())
	require.NoError(t, err)
	assert.Equal(t, amounts{snapshots: "0", "count/configmaps": "0"}, used(t, s))
	kindtest.Create(t, s, config)
	kindtest.Modify(t, s, kindtest.InDefault("m"), func(m *corev1.ConfigMap) { m.Data = map[string]string{"a": "b"} })
	assert.Equal(t, amounts{snapshots: "0", "count/configmaps": "1"}, used(t, s))
	from := "c"
	snapshot := func(name string) *snapshotv1.VolumeSnapshot {
		return &snapshotv1.VolumeSnapshot{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
			Spec: snapshotv1.VolumeSnapshotSpec{Source: snapshotv1.VolumeSnapshotSource{PersistentVolumeClaimName: &from}}}
	}
	kindtest.Create(t, s, snapshot("one"))
	_, err = store.Create(s, snapshot("two"))
	assert.EqualError(t, err, `volumesnapshots.snapshot.storage.k8s.io "two" is forbidden: exceeded quota: q, requested: `+snapshots+`=1, used: `+snapshots+`=1, limited: `+snapshots+`=1`)
}
