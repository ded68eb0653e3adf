package resizer

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

const (
	none                 = corev1.ClaimResourceStatus("")
	nodePending          = corev1.PersistentVolumeClaimNodeResizePending
	nodeInProgress       = corev1.PersistentVolumeClaimNodeResizeInProgress
	nodeInfeasible       = corev1.PersistentVolumeClaimNodeResizeInfeasible
	controllerInProgress = corev1.PersistentVolumeClaimControllerResizeInProgress
	controllerInfeasible = corev1.PersistentVolumeClaimControllerResizeInfeasible
)

// The next size of an expansion, by the state of the last one. "" is none: the node must act first.
// conformance: unit-controller-expand-grow, unit-controller-expand-same-size,
// unit-controller-expand-same-size-pending
func TestTheNextSize(t *testing.T) {
	for _, c := range []struct {
		rule                         string
		requested, volume, allocated string
		status                       corev1.ClaimResourceStatus
		refused, control, pending    bool
		want                         string
	}{
		// C-RES-12: the volume is smaller than the requested size.
		{rule: "nothing was begun", requested: "4Gi", volume: "1Gi", status: none, control: true, want: "4Gi"},
		{rule: "node refused: the allocated size", requested: "4Gi", volume: "1Gi", allocated: "2Gi", status: nodeInfeasible, control: true, want: "2Gi"},
		{rule: "node refused, nothing recorded", requested: "4Gi", volume: "1Gi", status: nodeInfeasible, control: true, want: "4Gi"},
		{rule: "node's turn, a bigger size waits", requested: "4Gi", volume: "2Gi", allocated: "2Gi", status: nodePending, control: true},
		{rule: "node at work, a bigger size waits", requested: "4Gi", volume: "2Gi", allocated: "2Gi", status: nodeInProgress, control: true},
		{rule: "node's turn, but the volume's size was not saved", requested: "4Gi", volume: "1Gi", allocated: "2Gi", status: nodePending, control: true, want: "2Gi"},
		{rule: "outcome unknown: the same again", requested: "4Gi", volume: "1Gi", allocated: "2Gi", status: controllerInProgress, control: true, want: "2Gi"},
		{rule: "outcome unknown, nothing recorded", requested: "4Gi", volume: "1Gi", status: controllerInProgress, control: true, want: "4Gi"},
		{rule: "refused for good: the new size", requested: "4Gi", volume: "1Gi", allocated: "8Gi", status: controllerInProgress, refused: true, control: true, want: "4Gi"},
		{rule: "infeasible: the new size", requested: "4Gi", volume: "1Gi", allocated: "8Gi", status: controllerInfeasible, control: true, want: "4Gi"},
		// C-RES-13: the volume has at least the requested size.
		{rule: "node's turn", requested: "2Gi", volume: "2Gi", allocated: "2Gi", status: nodePending, control: true},
		{rule: "node at work", requested: "2Gi", volume: "2Gi", allocated: "2Gi", status: nodeInProgress, control: true},
		{rule: "node refused, the driver is called again", requested: "2Gi", volume: "4Gi", allocated: "4Gi", status: nodeInfeasible, control: true, want: "4Gi"},
		{rule: "node refused, nodes alone expand", requested: "2Gi", volume: "4Gi", allocated: "4Gi", status: nodeInfeasible, want: "2Gi"},
		{rule: "done but not saved", requested: "4Gi", volume: "4Gi", allocated: "4Gi", status: controllerInProgress, control: true, want: "4Gi"},
		{rule: "done but not saved, a smaller size is requested", requested: "2Gi", volume: "4Gi", allocated: "4Gi", status: controllerInProgress, control: true, want: "4Gi"},
		{rule: "infeasible, then not", requested: "2Gi", volume: "2Gi", allocated: "4Gi", status: controllerInfeasible, control: true, want: "4Gi"},
		{rule: "status lost", requested: "2Gi", volume: "2Gi", allocated: "4Gi", status: none, control: true, want: "4Gi"},
		{rule: "no status, older claim that waits for a node", requested: "2Gi", volume: "2Gi", status: none, control: true, pending: true},
		{rule: "no status", requested: "2Gi", volume: "2Gi", status: none, control: true, want: "2Gi"},
	} {
		s := progress{
			requested: resource.MustParse(c.requested), volume: resource.MustParse(c.volume), status: c.status,
			refused: c.refused, control: c.control, nodePending: c.pending,
		}
		if c.allocated != "" {
			size := resource.MustParse(c.allocated)
			s.allocated = &size
		}
		got := ""
		if size, ok := s.target(); ok {
			got = size.String()
		}
		assert.Equal(t, c.want, got, "%s (%s)", c.rule, c.status)
	}
}
