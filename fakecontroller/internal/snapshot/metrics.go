package snapshot

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/snapshot"
	"github.com/csisim/csisim/internal/world/store"
)

// operationSeconds measures the time of an operation: from the first event of a snapshot, or the
// start of its deletion, to the end.
const operationSeconds = "snapshot_controller_operation_total_seconds"

// Operations that are measured.
const (
	creation         = "CreateSnapshot"
	creationAndReady = "CreateSnapshotAndReady"
	deletion         = "DeleteSnapshot"
)

var operationBounds = []float64{0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 120, 300, 600}

type operationKey struct {
	name string
	uid  types.UID
}

// operationStart holds the time and the object of the start of an operation.
type operationStart struct {
	at           time.Duration
	kind, driver string
}

// begin records the start of an operation, unless it has started already.
func (c *Controller) begin(name string, s volumeSnapshot) {
	key := operationKey{name, s.UID}
	if _, runs := c.operations[key]; !runs {
		kind := "dynamic"
		if s.Spec.Source.VolumeSnapshotContentName != nil {
			kind = "pre-provisioned"
		}
		c.operations[key] = operationStart{c.Kernel.Elapsed(), kind, c.driverOf(s)}
	}
}

// succeeded stops the clock of an operation.
func (c *Controller) succeeded(name string, s volumeSnapshot) {
	key := operationKey{name, s.UID}
	started, runs := c.operations[key]
	if !runs {
		return
	}
	delete(c.operations, key)
	driver := c.driverOf(s)
	if driver == unknownDriver {
		driver = started.driver
	}
	c.Metrics.Observe(operationSeconds, operationBounds, c.Kernel.Elapsed()-started.at,
		"driver_name", driver, "operation_name", name, "snapshot_type", started.kind, "operation_status", "success")
}

// deleted ends the measurements of a deleted snapshot.
func (c *Controller) deleted(s volumeSnapshot) {
	c.succeeded(deletion, s)
	delete(c.operations, operationKey{creation, s.UID})
	delete(c.operations, operationKey{creationAndReady, s.UID})
}

const unknownDriver = "unknown"

// driverOf returns the driver of a snapshot, from its content or its class.
func (c *Controller) driverOf(s volumeSnapshot) string {
	name := snapshot.BoundContent(s)
	if given := s.Spec.Source.VolumeSnapshotContentName; given != nil {
		name = *given
	}
	if found, ok := c.contents.Get(store.Key{Name: name}); ok {
		return found.Spec.Driver
	}
	if name := s.Spec.VolumeSnapshotClassName; name != nil {
		if found, ok := component.Cached[class](c.Component, store.Key{Name: *name}); ok {
			return found.Driver
		}
	}
	return unknownDriver
}
