package manager

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/kinds"
	"github.com/csisim/csisim/internal/world/addons/replication"
)

// The types of the conditions of a replication. A-VR-15
const (
	completed   = "Completed"
	degraded    = "Degraded"
	resyncing   = "Resyncing"
	validated   = "Validated"
	replicating = "Replicating"
	destination = "DestinationInfoAvailable"
)

// subject returns the first words of a condition's messages.
func subject(dataSource string) string {
	switch dataSource {
	case claimSource:
		return "volume"
	case groupSource:
		return "volume group"
	}
	return ""
}

// say sets a condition. The transition time changes only with the status. A-VR-15
func (v *replicationPass) say(kind string, status metav1.ConditionStatus, reason, message string) {
	setCondition(&v.vr.Status, v.vr.Generation, v.now(), kind, status, reason, message)
}

func setCondition(s *kinds.ReplicationStatus, generation int64, now time.Time, kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&s.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: message, ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(now),
	})
}

// of returns a message about the replicated object.
func (v *replicationPass) of(message string) string { return v.subject + " " + message }

func (v *replicationPass) sayPromoted() {
	v.say(completed, metav1.ConditionTrue, "Promoted", v.of("is promoted to primary and replicating to secondary"))
	v.say(degraded, metav1.ConditionFalse, "Healthy", v.of("is healthy"))
	v.sayNotResyncing()
}

func (v *replicationPass) sayNotResyncing() {
	v.say(resyncing, metav1.ConditionFalse, "NotResyncing", v.of("is not resyncing"))
}

func (v *replicationPass) sayPromotionFailed(what, cause string) {
	v.say(completed, metav1.ConditionFalse, "FailedToPromote", what)
	v.say(degraded, metav1.ConditionTrue, "Error", v.of("failed to promote: "+cause))
	v.sayNotResyncing()
	v.say(validated, metav1.ConditionTrue, "PrerequisiteMet", v.of("is validated and met all prerequisites"))
}

func (v *replicationPass) sayNotValid(what, cause string) {
	v.say(completed, metav1.ConditionFalse, "FailedToPromote", v.of("failed to promote"))
	v.say(degraded, metav1.ConditionTrue, "Error", what)
	v.sayNotResyncing()
	v.say(validated, metav1.ConditionFalse, "PrerequisiteNotMet", "failed to meet prerequisite: "+cause)
}

func (v *replicationPass) sayDemoted() {
	v.say(completed, metav1.ConditionTrue, "Demoted", v.of("is demoted to secondary"))
	v.say(degraded, metav1.ConditionTrue, "VolumeDegraded", v.of("is degraded"))
	v.sayNotResyncing()
}

func (v *replicationPass) sayDemotionFailed(what, cause string) {
	v.say(completed, metav1.ConditionFalse, "FailedToDemote", what)
	v.say(degraded, metav1.ConditionTrue, "Error", v.of("failed to demote: "+cause))
	v.sayNotResyncing()
}

func (v *replicationPass) sayResyncing() {
	v.say(completed, metav1.ConditionTrue, "Demoted", v.of("is demoted to secondary"))
	v.say(degraded, metav1.ConditionTrue, "VolumeDegraded", v.of("is degraded"))
	v.say(resyncing, metav1.ConditionTrue, "ResyncTriggered", v.of("is resyncing changes from primary to secondary"))
}

func (v *replicationPass) sayResynced() {
	v.say(degraded, metav1.ConditionFalse, "Healthy", v.of("is demoted to secondary"))
	v.sayNotResyncing()
}

func (v *replicationPass) sayResyncFailed(what, cause string) {
	v.say(completed, metav1.ConditionFalse, "FailedToResync", what)
	v.say(degraded, metav1.ConditionTrue, "Error", v.of("failed to resync: "+cause))
	v.say(resyncing, metav1.ConditionFalse, "FailedToResync", v.of("is not resyncing"))
}

// sayReplicating writes the driver's status of the replication.
func (v *replicationPass) sayReplicating(status replication.GetVolumeReplicationInfoResponse_Status, message string) {
	switch status {
	case replication.GetVolumeReplicationInfoResponse_HEALTHY:
		v.say(replicating, metav1.ConditionTrue, "Replicating", v.of("is replicating: "+message))
	case replication.GetVolumeReplicationInfoResponse_DEGRADED, replication.GetVolumeReplicationInfoResponse_ERROR:
		v.say(replicating, metav1.ConditionFalse, "NotReplicating", v.of("is not replicating: "+message))
	default:
		v.say(replicating, metav1.ConditionUnknown, "Replicating", v.of("replication status is unknown: "+message))
	}
}

func (v *replicationPass) forgetReplicating() {
	meta.RemoveStatusCondition(&v.vr.Status.Conditions, replicating)
}
