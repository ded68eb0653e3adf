package runtime

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/world/machine"
)

// An address is reused only after all other addresses, so that clients of a deleted pod do not
// reach a new one.
func TestPodsHaveAddressesInTurn(t *testing.T) {
	r := New(nil, "node-a", Options{Networks: &Networks{Pods: netip.MustParsePrefix("10.244.3.0/29")}})
	give := func(pod types.UID) string {
		at, err := r.freeAddress()
		if err != nil {
			return err.Error()
		}
		r.sandboxes[pod], r.latest = &sandbox{network: &machine.Network{Address: at}}, at
		return at.String()
	}
	for i := range 3 {
		assert.Equal(t, fmt.Sprintf("10.244.3.%d", i+2), give(types.UID(rune('a'+i))))
	}
	delete(r.sandboxes, "a")
	assert.Equal(t, "10.244.3.5", give("d"), "not that of a, which has just ended")
	assert.Equal(t, "10.244.3.6", give("e"))
	assert.Equal(t, "10.244.3.2", give("f"))
	assert.Equal(t, "failed to allocate for range 0: no IP addresses available in range set: 10.244.3.0/29", give("g"))
	at := r.Address("f")
	require.True(t, at.IsValid())
	assert.False(t, r.Address("a").IsValid())
}
