package pluginmanager_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

func (w *world) refreshEvery(seconds int64) {
	_, err := store.Create(w.Store, &storagev1.CSIDriver{
		ObjectMeta: metav1.ObjectMeta{Name: regDriver},
		Spec:       storagev1.CSIDriverSpec{NodeAllocatableUpdatePeriodSeconds: &seconds},
	})
	require.NoError(w.t, err)
}

// K-ALLOC-1, golden fact 68
//
// conformance: csimock-allocatable-refreshed-periodically
func TestAChangedLimitIsPublishedAtTheNextRefresh(t *testing.T) {
	w := newWorld(t)
	w.refreshEvery(20)
	d := w.serveDriver(endpoint)
	w.startRegistrar(endpoint)
	w.quiet()
	before := w.Trace.Last()
	w.until(30 * time.Second)
	d.limit = 3
	w.until(70 * time.Second)

	assert.Equal(t, []string{
		"22s kubelet Node/NodeGetInfo",
		"42s kubelet Node/NodeGetInfo",
		"42s MODIFIED csinodes",
		"62s kubelet Node/NodeGetInfo",
	}, w.story(before))
	assert.Equal(t, int32(3), *w.entries()[0].Allocatable.Count)
}

// K-RACE-8
func TestARefreshInFlightBringsAnUnregisteredDriverBack(t *testing.T) {
	w := newWorld(t)
	w.refreshEvery(20)
	w.serveDriver(endpoint)
	r := w.startRegistrar(endpoint)
	w.quiet()
	w.wire.Faults.Inject(&fault.Fault{Call: "NodeGetInfo", Times: 1, Effect: fault.HoldAnswer, Delay: 5 * time.Second})
	w.until(23 * time.Second)
	require.NoError(t, r.Stop())
	w.until(26 * time.Second)
	assert.Empty(t, w.entries())
	w.until(5 * time.Minute)
	assert.Len(t, w.entries(), 1, "nothing removes it any more")
	assert.Len(t, w.calls("Node/NodeGetInfo"), 2, "the ticker has ended")
	assert.Empty(t, w.plugins.Registered())
}

// K-ALLOC-3, K-RPC-10
func TestTheLimitOfAnUnknownDriverCannotBeRefreshed(t *testing.T) {
	w := newWorld(t)
	var err error
	p := w.kubelet.Go("test", func(p *kernel.Process) { err = w.plugins.RefreshLimit(p, regDriver) })
	w.Kernel.Run(kernel.Until{Cond: p.Ended})
	assert.EqualError(t, err, "refresh the attach limit of driver reg.csi.example.com: "+
		"driver name reg.csi.example.com not found in the list of registered CSI drivers")
}
