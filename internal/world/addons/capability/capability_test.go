package capability_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/world/addons/capability"
	"github.com/csisim/csisim/internal/world/addons/identity"
)

// A-NODE-6
func TestCapabilitiesHaveNames(t *testing.T) {
	for _, name := range []string{
		"service.CONTROLLER_SERVICE", "reclaim_space.ONLINE", "network_fence.GET_CLIENTS_TO_FENCE", "volume_replication.VOLUME_REPLICATION",
		"volume_group.MODIFY_VOLUME_GROUP", "encryption_key_rotation.ENCRYPTIONKEYROTATION", "service.UNKNOWN",
	} {
		assert.Equal(t, name, capability.Name(capability.Named(name)))
	}
	for _, name := range []string{"", "service", "service.FLYING", "kitchen.SINK"} {
		assert.Nil(t, capability.Named(name), name)
	}
	assert.Empty(t, capability.Name(&identity.Capability{}))
	strange := &identity.Capability{Type: &identity.Capability_ReclaimSpace_{ReclaimSpace: &identity.Capability_ReclaimSpace{Type: 77}}}
	assert.Equal(t, "reclaim_space.77", capability.Name(strange))
}
