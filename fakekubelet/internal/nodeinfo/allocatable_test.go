package nodeinfo_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// refreshes counts the refreshes of a driver's limit.
type refreshes struct {
	at   []time.Duration
	took time.Duration // duration of the next refresh
}

func (r *refreshes) refresh(p *kernel.Process) error {
	r.at = append(r.at, p.Elapsed())
	p.Sleep(r.took)
	r.took = 0
	return errors.New("failures are logged only")
}

func (w *world) setPeriod(seconds int64) {
	driver := &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: regDriver}}
	if seconds > 0 {
		driver.Spec.NodeAllocatableUpdatePeriodSeconds = &seconds
	}
	if old, ok := store.Get[*storagev1.CSIDriver](w.store, store.Key{Name: regDriver}); ok {
		driver.ResourceVersion = old.ResourceVersion
		driver.Spec.AttachRequired = old.Spec.AttachRequired
		driver.Spec.VolumeLifecycleModes = old.Spec.VolumeLifecycleModes
		_, err := store.Update(w.store, driver)
		require.NoError(w.t, err)
		return
	}
	_, err := store.Create(w.store, driver)
	require.NoError(w.t, err)
}

func seconds(all ...float64) []time.Duration {
	var at []time.Duration
	for _, s := range all {
		at = append(at, time.Duration(s*float64(time.Second)))
	}
	return at
}

// K-ALLOC-1, C-NIM-5, golden fact 68
//
// conformance: unit-allocatable-period-60
func TestTheLimitIsRefreshedAfterEachFullPeriod(t *testing.T) {
	w := started(t)
	w.setPeriod(20)
	var r refreshes
	w.info.Registered(regDriver, r.refresh)
	assert.Equal(t, kernel.Quiet, w.kernel.Run(kernel.Until{StopWhenQuiet: true}), "refreshing is housekeeping")
	w.until(65 * time.Second)
	assert.Equal(t, seconds(20, 40, 60), r.at)
}

// K-ALLOC-1: a ticker keeps one missed tick.
func TestASlowRefreshIsFollowedByOneMissedTick(t *testing.T) {
	w := started(t)
	w.setPeriod(10)
	r := refreshes{took: 35 * time.Second}
	w.info.Registered(regDriver, r.refresh)
	w.until(65 * time.Second)
	assert.Equal(t, seconds(10, 45, 50, 60), r.at)
}

// K-ALLOC-2
//
// conformance: unit-allocatable-period-no-csidriver, unit-allocatable-period-unset,
// unit-allocatable-updater-period-unset, unit-allocatable-updater-period-changed
func TestTheTickerFollowsTheCSIDriver(t *testing.T) {
	w := started(t)
	var r refreshes
	w.info.Registered(regDriver, r.refresh)
	w.until(25 * time.Second)
	assert.Empty(t, r.at, "there is no CSIDriver")

	w.setPeriod(20) // at 25 s
	w.until(50 * time.Second)
	assert.Equal(t, seconds(45), r.at)

	w.setPeriod(30) // at 50 s: another period begins
	w.until(85 * time.Second)
	assert.Equal(t, seconds(45, 80), r.at)

	w.setPeriod(0)
	w.until(200 * time.Second)
	assert.Equal(t, seconds(45, 80), r.at)

	w.setPeriod(30) // at 200 s
	_, err := store.Delete[*storagev1.CSIDriver](w.store, store.Key{Name: regDriver})
	require.NoError(t, err)
	w.until(300 * time.Second)
	assert.Equal(t, seconds(45, 80), r.at)
}

// K-ALLOC-2
func TestAnotherChangeOfTheCSIDriverKeepsThePhase(t *testing.T) {
	w := started(t)
	w.setPeriod(20)
	var r refreshes
	w.info.Registered(regDriver, r.refresh)
	w.until(15 * time.Second)
	_, err := store.Modify(w.store, store.Key{Name: regDriver}, func(d *storagev1.CSIDriver) { d.Labels = map[string]string{"a": "b"} })
	require.NoError(t, err)
	w.until(25 * time.Second)
	assert.Equal(t, seconds(20), r.at)
}

// K-ALLOC-2
func TestRegistrationRestartsThePhaseAndDeregistrationEndsTheTicker(t *testing.T) {
	w := started(t)
	w.setPeriod(20)
	var r refreshes
	w.info.Registered(regDriver, r.refresh)
	w.until(15 * time.Second)
	w.info.Registered(regDriver, r.refresh)
	w.until(36 * time.Second)
	assert.Equal(t, seconds(35), r.at)

	w.info.Unregistered(regDriver)
	w.until(100 * time.Second)
	assert.Equal(t, seconds(35), r.at)
}
