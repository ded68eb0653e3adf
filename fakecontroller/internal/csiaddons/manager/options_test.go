package manager

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/addons/identity"
)

func TestTheConfigMapOverridesFlags(t *testing.T) { // A-MGR-1, A-MGR-2, A-MGR-3
	o := Options{}.withDefaults()
	assert.Equal(t, 3*time.Minute, o.Timeout)
	assert.Equal(t, 5*time.Nanosecond, o.NodeRetryDelay)
	assert.Equal(t, 2*time.Hour, o.staggerWindow())
	m := &Manager{opts: o}
	assert.Equal(t, 100, m.backoff().Workers)
	assert.Equal(t, 1, m.oneByOne().Workers)

	require.NoError(t, o.read(map[string]string{
		"reclaim-space-timeout": "1m", "max-concurrent-reconciles": "7", "schedule-precedence": "sc-only", "max-group-pvcs": "5",
		"csi-addons-node-retry-delay": "9", "cronjob-stagger-window": "0", "volume-health-cleanup-interval": "1h", "volume-health-stale-threshold": "3h",
	}))
	none := 0
	assert.Equal(t, Options{
		Timeout: time.Minute, NodeRetryDelay: 9, Namespace: "csi-addons-system", SchedulePrecedence: "storageclass", StaggerHours: &none,
		MaxGroupClaims: 5, Workers: 7, HealthInterval: time.Hour, HealthThreshold: 3 * time.Hour,
	}, o)

	for key, value := range map[string]string{
		"nonsense": "1", "reclaim-space-timeout": "soon", "max-group-pvcs": "101", "csi-addons-node-retry-delay": "0",
		"schedule-precedence": "namespace", "volume-health-stale-threshold": "-1h", "cronjob-stagger-window": "two",
	} {
		assert.ErrorContains(t, o.read(map[string]string{key: value}), key)
	}
}

func TestExpiredAnnotationsAreStale(t *testing.T) { // A-COND-6
	claim := &corev1.PersistentVolumeClaim{}
	claim.Annotations = map[string]string{
		healthPrefix + "old":       `{"state":"healthy","lastChecked":"2026-01-05T07:59:00Z"}`,
		healthPrefix + "fresh":     `{"state":"healthy","lastChecked":"2026-01-05T08:01:00Z"}`,
		healthPrefix + "malformed": `{"state":`,
		healthPrefix + "never":     `{"state":"healthy"}`,
		"another":                  `{"lastChecked":"2020-01-05T07:59:00Z"}`,
	}
	assert.Equal(t, []string{healthPrefix + "old"}, staleHealth(claim, at(t, "08:00:00")))
}

func TestConnectionsAreFoundByNodeAndCapability(t *testing.T) { // A-POOL-1, A-POOL-5
	online := []*identity.Capability{{Type: &identity.Capability_ReclaimSpace_{ReclaimSpace: &identity.Capability_ReclaimSpace{Type: identity.Capability_ReclaimSpace_ONLINE}}}}
	m := &Manager{pool: pool{
		{key: "ns/controller", driver: "d", node: "node-a"},
		{key: "ns/node-a", driver: "d", node: "node-a", capabilities: online},
		{key: "ns/other", driver: "other", node: "node-a", capabilities: online},
	}}
	assert.Equal(t, "ns/node-a", m.onNode("d", "node-a", "reclaim_space.ONLINE").key)
	assert.Nil(t, m.onNode("d", "node-b", "reclaim_space.ONLINE"))
	assert.Nil(t, m.onNode("d", "node-a", "encryption_key_rotation.ENCRYPTIONKEYROTATION"))
	m.disconnect("ns/node-a")
	assert.Nil(t, m.onNode("d", "node-a", "reclaim_space.ONLINE"))
}
