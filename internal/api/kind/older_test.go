package kind_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/api/kind/kindtest"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/version"
)

// aroundChange runs a test with an API server of the last release before a change, and of the first
// release with it.
func aroundChange(t *testing.T, c version.Change, test func(t *testing.T, s *store.Store, since bool)) {
	for _, release := range []version.Version{c.Before(), c.Before() + 1} {
		t.Run(release.String(), func(t *testing.T) {
			s := kind.NewStore(store.Options{Guard: true}, kind.Kubernetes(func() version.Version { return release }))
			test(t, s, release.Has(c))
		})
	}
}

// C-GEN-14 [gate AnyVolumeDataSource]
func TestOldVersionsDropDataSourceRefs(t *testing.T) {
	aroundChange(t, version.DataSourceRef, func(t *testing.T, s *store.Store, since bool) {
		group, given := "populator.example.com", kindtest.Claim("c")
		given.Spec.DataSourceRef = &corev1.TypedObjectReference{APIGroup: &group, Kind: "Image", Name: "x"}
		assert.Equal(t, since, kindtest.Create(t, s, given).Spec.DataSourceRef != nil)
		given = kindtest.Claim("clone")
		given.Spec.DataSource = &corev1.TypedLocalObjectReference{Kind: "PersistentVolumeClaim", Name: "c"}
		assert.NotNil(t, kindtest.Create(t, s, given).Spec.DataSource, "claims are sources in all versions")
	})
}

// C-GEN-14 [gate VolumeAttributesClass]
func TestOldVersionsDropVolumeAttributesClasses(t *testing.T) {
	aroundChange(t, version.AttributesClasses, func(t *testing.T, s *store.Store, since bool) {
		gold, pvc, pv := "gold", kindtest.Claim("c"), kindtest.Volume("v")
		pvc.Spec.VolumeAttributesClassName, pv.Spec.VolumeAttributesClassName = &gold, &gold
		assert.Equal(t, since, kindtest.Create(t, s, pvc).Spec.VolumeAttributesClassName != nil)
		assert.Equal(t, since, kindtest.Create(t, s, pv).Spec.VolumeAttributesClassName != nil)
	})
}

// C-GEN-14 [gate PersistentVolumeLastPhaseTransitionTime]
func TestOldVersionsHaveNoTimeOfAPhase(t *testing.T) {
	aroundChange(t, version.PhaseTransitionTime, func(t *testing.T, s *store.Store, since bool) {
		pv := kindtest.Create(t, s, kindtest.Volume("v"))
		assert.Equal(t, since, pv.Status.LastPhaseTransitionTime != nil)
		changed := pv.DeepCopy()
		changed.Status.Phase, changed.Status.LastPhaseTransitionTime = corev1.VolumeAvailable, &metav1.Time{Time: store.Epoch}
		pv, err := store.UpdateStatus(s, changed)
		require.NoError(t, err)
		assert.Equal(t, since, pv.Status.LastPhaseTransitionTime != nil)
	})
}

// C-GEN-14 [gate RecoverVolumeExpansionFailure]
func TestOldVersionsKeepNoAllocatedResourcesAndNoSmallerRequest(t *testing.T) {
	aroundChange(t, version.SmallerExpansion, func(t *testing.T, s *store.Store, since bool) {
		expandable := true
		class := kindtest.Class("disk")
		class.AllowVolumeExpansion = &expandable
		kindtest.Create(t, s, class)
		pvc := kindtest.Claim("c")
		pvc.Spec.StorageClassName, pvc.Spec.Resources.Requests = &class.Name, kindtest.Storage("1Gi")
		pvc = kindtest.Create(t, s, pvc).DeepCopy()
		pvc.Status.Phase, pvc.Status.Capacity = corev1.ClaimBound, kindtest.Storage("1Gi")
		pvc.Status.AllocatedResources = kindtest.Storage("9Gi")
		pvc.Status.AllocatedResourceStatuses = map[corev1.ResourceName]corev1.ClaimResourceStatus{"storage": corev1.PersistentVolumeClaimControllerResizeInProgress}
		got, err := store.UpdateStatus(s, pvc)
		require.NoError(t, err)
		assert.Equal(t, []bool{since, since}, []bool{got.Status.AllocatedResources != nil, got.Status.AllocatedResourceStatuses != nil})

		for _, size := range []string{"9Gi", "2Gi"} {
			got = got.DeepCopy()
			got.Spec.Resources.Requests = kindtest.Storage(size)
			updated, err := store.Update(s, got)
			if size == "2Gi" && !since {
				assert.ErrorContains(t, err, "spec.resources.requests.storage: Forbidden: field can not be less than previous value")
				continue
			}
			require.NoError(t, err, size)
			got = updated
		}
	})
}

// C-GEN-14 [gate ReadWriteOncePod]
func TestOldVersionsRejectReadWriteOncePod(t *testing.T) {
	aroundChange(t, version.OncePod, func(t *testing.T, s *store.Store, since bool) {
		pvc := kindtest.Claim("c")
		pvc.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
		_, err := store.Create(s, pvc)
		assert.Equal(t, since, err == nil)
		if !since {
			assert.ErrorContains(t, err, `spec.accessModes: Unsupported value: "ReadWriteOncePod": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce"`)
		}
	})
}

// C-PV-39 [kubernetes/kubernetes#110559]
func TestOldVersionsRejectClaimsWhileSeveralClassesAreTheDefault(t *testing.T) {
	aroundChange(t, version.NewestDefaultClass, func(t *testing.T, s *store.Store, since bool) {
		for _, name := range []string{"a", "b"} {
			class := kindtest.Class(name)
			class.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
			kindtest.Create(t, s, class)
		}
		_, err := store.Create(s, kindtest.Claim("c"))
		if since {
			assert.NoError(t, err)
			return
		}
		assert.True(t, apierrors.IsForbidden(err))
		assert.ErrorContains(t, err, "Internal error occurred: 2 default StorageClasses were found")
		named := kindtest.Claim("named")
		named.Spec.StorageClassName = new("a")
		kindtest.Create(t, s, named)
	})
}
