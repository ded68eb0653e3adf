package nodeinfo_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/fakekubelet/internal/nodeinfo"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// breaking is a strategy. While it is true, watches break. All other choices are calm.
type breaking bool

func (b *breaking) Choose(c kernel.Choice) int {
	if c.Kind == kernel.Relist && bool(*b) {
		return c.N - 1
	}
	return 0
}

func (*breaking) String() string { return "breaking watches" }

// K-RACE-10: if a watch misses the deletion of a CSIDriver, its limit is refreshed for ever.
func TestADeletionThatWasMissedDoesNotEndTheTicker(t *testing.T) {
	for _, missed := range []bool{false, true} {
		var watches breaking
		w := worldOn(t, kernel.New(kernel.Options{Strategy: &watches}))
		w.createNode(nil)
		w.info = nodeinfo.Start(w.kubelet, nil)
		w.quiet()
		w.setPeriod(20)
		var r refreshes
		w.info.Registered(regDriver, r.refresh)
		w.quiet()
		watches = breaking(missed)
		_, err := store.Delete[*storagev1.CSIDriver](w.store, store.Key{Name: regDriver})
		require.NoError(t, err)
		w.until(w.kernel.Elapsed() + 65*time.Second)
		assert.Equal(t, missed, len(r.at) == 3, "refreshed at %v", r.at)
		assert.Equal(t, !missed, len(r.at) == 0, "refreshed at %v", r.at)
	}
}
