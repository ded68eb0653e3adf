package kind_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/api/kind/kindtest"
	"github.com/csisim/csisim/internal/world/store"
)

// Pod p requests half a cpu and may use a whole cpu.
func TestQuotasOfPods(t *testing.T) {
	asks := func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources = corev1.ResourceRequirements{
			Requests: list(amounts{"cpu": "500m"}), Limits: list(amounts{"cpu": "1"}),
		}
	}
	for says, c := range map[string]struct {
		hard, used amounts
		scope      corev1.ResourceQuotaScope
		pod        func(*corev1.Pod)
		after      amounts
		refused    string
	}{
		"room for one more": {
			hard: amounts{"pods": "2", "requests.cpu": "1", "cpu": "1", "limits.cpu": "1"}, used: amounts{"pods": "1", "requests.cpu": "0", "cpu": "0", "limits.cpu": "0"},
			pod: asks, after: amounts{"pods": "2", "requests.cpu": "500m", "cpu": "500m", "limits.cpu": "1"},
		},
		"too many": {
			hard: amounts{"pods": "1"}, used: amounts{"pods": "1"}, pod: asks,
			refused: "exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1",
		},
		"too much": {
			hard: amounts{"limits.cpu": "1"}, used: amounts{"limits.cpu": "500m"}, pod: asks,
			refused: "exceeded quota: q, requested: limits.cpu=1, used: limits.cpu=500m, limited: limits.cpu=1",
		},
		"the limited resources are not set": {
			hard: amounts{"requests.cpu": "1", "limits.memory": "1Gi", "requests.ephemeral-storage": "1Gi"},
			used: amounts{"requests.cpu": "0", "limits.memory": "0", "requests.ephemeral-storage": "0"}, pod: func(*corev1.Pod) {},
			refused: "failed quota: q: must specify limits.memory for: c; requests.cpu for: c",
		},
		"only of pods that end": {
			hard: amounts{"pods": "0"}, used: amounts{"pods": "0"}, scope: corev1.ResourceQuotaScopeTerminating, pod: asks, after: amounts{"pods": "0"},
		},
		"only of pods that ask for nothing": {
			hard: amounts{"pods": "0"}, used: amounts{"pods": "0"}, scope: corev1.ResourceQuotaScopeBestEffort, pod: asks, after: amounts{"pods": "0"},
		},
		"only of pods that ask for something": {
			hard: amounts{"pods": "0"}, used: amounts{"pods": "0"}, scope: corev1.ResourceQuotaScopeNotBestEffort, pod: asks,
			refused: "exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0",
		},
	} {
		t.Run(says, func(t *testing.T) {
			s := kind.NewStore(store.Options{})
			var scopes []corev1.ResourceQuotaScope
			if c.scope != "" {
				scopes = append(scopes, c.scope)
			}
			createQuota(t, s, quota(c.hard, c.used, scopes...))
			_, err := store.Create(s, kindtest.Pod("p", c.pod))
			if c.refused == "" {
				require.NoError(t, err)
				assert.Equal(t, c.after, used(t, s))
				return
			}
			assert.EqualError(t, err, `pods "p" is forbidden: `+c.refused)
		})
	}
}

func TestQuotasOfServices(t *testing.T) {
	s := kind.NewStore(store.Options{})
	createQuota(t, s, quota(amounts{"services": "2", "services.nodeports": "1"}, amounts{"services": "0", "services.nodeports": "0"}))
	kindtest.Create(t, s, service("inside", corev1.ServiceTypeClusterIP, 80))
	kindtest.Create(t, s, service("outside", corev1.ServiceTypeNodePort, 80))
	assert.Equal(t, amounts{"services": "2", "services.nodeports": "1"}, used(t, s))
	_, err := store.Modify(s, kindtest.InDefault("inside"), func(s *corev1.Service) { s.Spec.Type = corev1.ServiceTypeNodePort })
	assert.EqualError(t, err, `services "inside" is forbidden: exceeded quota: q, requested: services.nodeports=1, used: services.nodeports=1, limited: services.nodeports=1`)
}

func TestLimitRangesLimitClaims(t *testing.T) {
	s := kind.NewStore(store.Options{})
	kindtest.Create(t, s, &corev1.LimitRange{ObjectMeta: kindtest.Named("sizes"), Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{
		{Type: corev1.LimitTypePersistentVolumeClaim, Min: kindtest.Storage("1Gi"), Max: kindtest.Storage("2Gi")},
		{Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}},
	}}})
	of := func(size string) *corev1.PersistentVolumeClaim {
		pvc := kindtest.Claim("c")
		pvc.Spec.Resources.Requests = kindtest.Storage(size)
		return pvc
	}
	_, err := store.Create(s, of("512Mi"))
	assert.EqualError(t, err, `persistentvolumeclaims "c" is forbidden: minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 512Mi`)
	_, err = store.Create(s, of("3Gi"))
	assert.EqualError(t, err, `persistentvolumeclaims "c" is forbidden: maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi`)

	bound(t, s, true) // claim c, with 1Gi
	_, err = store.Modify(s, kindtest.InDefault("c"), request("3Gi"))
	assert.ErrorContains(t, err, "maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi")
	kindtest.Modify(t, s, kindtest.InDefault("c"), request("2Gi"))
	other := of("9Gi")
	other.Namespace = "kube-system"
	kindtest.Create(t, s, other)
}

func TestAllExceededLimitsOfAClaimAreReported(t *testing.T) {
	s := kind.NewStore(store.Options{})
	kindtest.Create(t, s, &corev1.LimitRange{ObjectMeta: kindtest.Named("none"), Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
		Type: corev1.LimitTypePersistentVolumeClaim, Min: kindtest.Storage("2Gi"), Max: corev1.ResourceList{"example.com/iops": resource.MustParse("100")},
	}}}})
	_, err := store.Create(s, kindtest.Claim("c"))
	assert.EqualError(t, err, `persistentvolumeclaims "c" is forbidden: [minimum storage usage per PersistentVolumeClaim is 2Gi, but request is 1Gi, `+
		`maximum example.com/iops usage per PersistentVolumeClaim is 100.  No request is specified]`)
}
