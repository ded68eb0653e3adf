package manager

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/kinds"
	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/relay"
	"github.com/csisim/csisim/internal/world/addons/replication"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// The kinds that can be replicated. A-VR-3
const (
	claimSource = "PersistentVolumeClaim"
	groupSource = "VolumeGroupReplication"
)

// States of replications. A-VR-2
const (
	primary   = "Primary"
	secondary = "Secondary"
	unknown   = "Unknown"
)

// The times after which a replication is processed again. A-VR-9, A-VR-10, A-VR-12
const (
	secondaryPause = 15 * time.Second
	resyncPause    = 30 * time.Second
	infoPeriod     = time.Hour
	shortSchedule  = 2 * time.Minute
)

// replicationPass is one pass of a VolumeReplication.
type replicationPass struct {
	*Manager
	process    *kernel.Process
	vr         *kinds.VolumeReplication
	subject    string // the first words of messages
	source     source
	conn       *connection
	parameters map[string]string
	secret     relay.Secret
}

func (v *replicationPass) now() time.Time { return v.process.Now() }

// syncReplication makes one pass of a VolumeReplication.
func (m *Manager) syncReplication(p *kernel.Process, key store.Key) error {
	vr, err := kinds.Get[kinds.VolumeReplication](m.Component, key)
	if err != nil {
		return ignoreNotFound(err)
	}
	v := &replicationPass{Manager: m, process: p, vr: vr, subject: subject(vr.Spec.DataSource.Kind)}
	switch ready, err := v.prepare(); {
	case err != nil || !ready:
		return err
	case vr.DeletionTimestamp != nil:
		return v.remove()
	}
	if err := v.own(); err != nil {
		return err
	}
	// A-VR-7: lastStartTime belongs to the status, which this write does not change.
	if err := kinds.Update(p, m.Component, vr); err != nil {
		return err
	}
	if err := v.expectDestination(); err != nil {
		return v.failed(err)
	}
	return v.reach()
}

// prepare finds the class, the replicated object, and the connection. Failures are written into the
// status, and also delay a deletion. A-VR-4, A-VR-5
func (v *replicationPass) prepare() (ready bool, err error) {
	class, err := kinds.Get[kinds.VolumeReplicationClass](v.Component, store.Key{Name: v.vr.Spec.VolumeReplicationClass})
	if err != nil {
		return false, v.unprepared("failed to get volumeReplication class", err)
	}
	if err := checkReplicationParameters(class.Spec.Parameters); err != nil {
		return false, v.unprepared("failed to validate parameters of volumeReplicationClass", err)
	}
	v.parameters, v.secret = ownParameters(class.Spec.Parameters), relay.Secret{
		Name: class.Spec.Parameters[replicationPrefix+"replication-secret-name"], Namespace: class.Spec.Parameters[replicationPrefix+"replication-secret-namespace"],
	}
	switch v.vr.Spec.DataSource.Kind {
	case claimSource, groupSource:
		var what string
		if v.source, what, err = v.findSource(); err != nil {
			v.subject = ""
			return false, v.unprepared(what, err)
		}
	default:
		v.subject = ""
		_ = v.unprepared("unsupported datasource", errors.New("unsupported datasource kind"))
		return false, nil
	}
	v.subject = subject(v.vr.Spec.DataSource.Kind)
	v.conn, err = v.leaderWith(class.Spec.Provisioner, "volume_replication.VOLUME_REPLICATION")
	return err == nil, err
}

// leaderWith: A-VR-5
func (m *Manager) leaderWith(driver, capability string) (*connection, error) {
	c, err := m.leader(driver)
	if err != nil {
		return nil, fmt.Errorf("no leader for the ControllerService of driver %q: %w", driver, err)
	}
	if !c.can(capability) {
		return nil, fmt.Errorf("leading CSIAddonsNode %q for driver %q does not support VolumeReplication", c.name, driver)
	}
	return c, nil
}

// unprepared reports a failure in the form for the desired state of the replication. A-VR-4
func (v *replicationPass) unprepared(what string, cause error) error {
	switch v.vr.Spec.ReplicationState {
	case "primary":
		v.sayPromotionFailed(what, cause.Error())
	case "secondary":
		v.sayDemotionFailed(what, cause.Error())
	case "resync":
		v.sayResyncFailed(what, cause.Error())
	}
	_ = v.save(v.state(), cause.Error()) // it is retried anyway
	return cause
}

// state returns the stored state.
func (v *replicationPass) state() string { return cmp.Or(v.vr.Status.State, unknown) }

func (v *replicationPass) save(state, message string) error {
	v.vr.Status.State, v.vr.Status.Message, v.vr.Status.ObservedGeneration = state, message, v.vr.Generation
	return kinds.UpdateStatus(v.process, v.Component, v.vr)
}

// reach moves the volume towards its desired state. A-VR-8 to A-VR-14
func (v *replicationPass) reach() error {
	waits, err := false, error(nil)
	switch v.vr.Spec.ReplicationState {
	case "primary":
		if v.vr.Status.State != primary {
			if err := v.enable(); err != nil {
				return v.failed(err)
			}
			err = v.promote()
		}
		if err == nil {
			v.sayPromoted()
		}
	case "secondary":
		first := v.vr.Status.State != secondary
		if err = v.demote(); err == nil && first { // A-VR-10
			if err := v.save(secondary, "volume is marked secondary and is degraded"); err != nil {
				return err
			}
			return after(secondaryPause)
		}
		if err == nil {
			waits, err = v.resync(v.vr.Spec.AutoResync)
		}
	case "resync": // A-VR-11
		waits, err = v.resync(true)
	}
	switch {
	case err != nil && v.vr.Status.State == secondary: // A-VR-13
		_ = v.failed(err)
		return after(secondaryPause)
	case err != nil:
		return v.failed(err)
	case waits: // A-VR-12
		v.forgetReplicating()
		_ = v.save(v.state(), "volume is degraded")
		return after(resyncPause)
	}
	return v.finish()
}

// failed records a failure and returns it.
func (v *replicationPass) failed(cause error) error {
	_ = v.save(v.state(), messageOf(cause)) // it is retried anyway
	return cause
}

// finish writes that the volume has its desired state. A-VR-14
func (v *replicationPass) finish() error {
	message, state := "volume is marked "+v.vr.Spec.ReplicationState, secondary
	switch v.vr.Spec.ReplicationState {
	case "resync":
		message = "volume is marked for resyncing"
	case "primary":
		state = primary
	}
	now := metav1.NewTime(v.now())
	v.vr.Status.LastCompletionTime = &now
	again := false
	if state == primary {
		info, err := v.ask(relay.Info, false)
		switch status.Code(err) {
		case codes.OK, codes.NotFound:
			again = true
			v.note(info)
		case codes.Unimplemented:
		default:
			v.sayReplicating(replication.GetVolumeReplicationInfoResponse_UNKNOWN, err.Error())
			if saved := v.save(state, message); saved != nil {
				return saved
			}
			return err
		}
	}
	if v.vr.Spec.ReplicationState == "secondary" {
		v.vr.Status.LastSyncTime = nil
		v.forgetReplicating()
	}
	if err := v.fetchDestination(); err != nil { // A-VR-16: the destination is not saved
		return err
	}
	if err := v.save(state, message); err != nil {
		return err
	}
	if again {
		return every(infoInterval(v.parameters))
	}
	return nil
}

// note writes the driver's information about the replication. A-VR-9
func (v *replicationPass) note(answer proto.Message) {
	info, ok := answer.(*replication.GetVolumeReplicationInfoResponse)
	if !ok || info == nil {
		return
	}
	if at := info.GetLastSyncTime(); at != nil {
		when := metav1.NewTime(at.AsTime())
		v.vr.Status.LastSyncTime, v.vr.Status.LastSyncDuration, v.vr.Status.LastSyncBytes = &when, nil, nil
		if d := info.GetLastSyncDuration(); d != nil {
			v.vr.Status.LastSyncDuration = &metav1.Duration{Duration: d.AsDuration()}
		}
		if bytes := info.GetLastSyncBytes(); bytes != 0 {
			v.vr.Status.LastSyncBytes = &bytes
		}
	}
	v.sayReplicating(info.GetStatus(), info.GetStatusMessage())
}

// infoInterval returns the interval at which a primary's information is requested. A-VR-9
func infoInterval(parameters map[string]string) time.Duration {
	schedule, err := time.ParseDuration(parameters["schedulingInterval"])
	switch {
	case err != nil:
		return infoPeriod
	case schedule < shortSchedule:
		return schedule
	}
	return schedule / 2
}

// ask makes one call on behalf of the replication. A-VR-5
func (v *replicationPass) ask(operation relay.Operation, force bool) (answer proto.Message, err error) {
	request := relay.Replication{
		Operation: operation, ID: v.vr.Spec.ReplicationHandle, Force: force, Parameters: v.parameters, Secret: v.secret, Source: v.source.message(),
	}
	err = v.conn.call(v.process, string(operation), defaultTimeout, func(s relay.Asked, call relay.Call) (err error) {
		answer, err = s.Replicate(call, request)
		return err
	})
	return answer, err
}

// enable: A-VR-8
func (v *replicationPass) enable() error {
	_, err := v.ask(relay.Enable, false)
	switch {
	case err == nil:
	case status.Code(err) == codes.FailedPrecondition:
		v.sayNotValid("failed to enable volume replication", err.Error())
	default:
		v.sayPromotionFailed("failed to enable volume replication", err.Error())
	}
	return err
}

// promote promotes, by force if the driver requires it. A-VR-8
func (v *replicationPass) promote() error {
	_, err := v.ask(relay.Promote, false)
	what := "failed to promote volume"
	if status.Code(err) == codes.FailedPrecondition {
		_, err = v.ask(relay.Promote, true)
		what = "failed to force promote volume"
	}
	if err != nil {
		v.sayPromotionFailed(what, err.Error())
	}
	return err
}

// demote: A-VR-10
func (v *replicationPass) demote() error {
	if _, err := v.ask(relay.Demote, false); err != nil {
		v.sayDemotionFailed("failed to demote volume", err.Error())
		return err
	}
	v.sayDemoted()
	return nil
}

// resync reports whether the volume still has to be synchronized. A-VR-11, A-VR-12
func (v *replicationPass) resync(force bool) (waits bool, err error) {
	answer, err := v.ask(relay.Resync, force)
	if err != nil {
		v.sayResyncFailed("failed to resync volume", err.Error())
		return false, err
	}
	v.sayResyncing()
	if ready, ok := answer.(*replication.ResyncVolumeResponse); !ok || !ready.GetReady() {
		return true, nil
	}
	v.sayResynced()
	return false, nil
}

// replicationPrefix is the prefix of a class's parameters for the controller. A-VR-1
const replicationPrefix = "replication.storage.openshift.io/"

func checkReplicationParameters(parameters map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(parameters)) {
		name, reserved := strings.CutPrefix(key, replicationPrefix)
		if !reserved {
			continue
		}
		switch name {
		case "replication-secret-name", "group-replication-secret-name":
			if parameters[key] == "" {
				return errors.New("secret name cannot be empty")
			}
		case "replication-secret-namespace", "group-replication-secret-namespace":
			if parameters[key] == "" {
				return errors.New("secret namespace cannot be empty")
			}
		default:
			return fmt.Errorf("found unknown parameter key %q with reserved prefix %s", key, replicationPrefix)
		}
	}
	return nil
}

// ownParameters returns the parameters for the driver, without the parameters of the replication
// itself.
func ownParameters(parameters map[string]string) map[string]string {
	own := maps.Clone(parameters)
	maps.DeleteFunc(own, func(key, _ string) bool { return strings.HasPrefix(key, replicationPrefix) })
	return own
}

// hasDestination reports whether the driver reports copies of volumes. A-VR-16
func (v *replicationPass) hasDestination() bool {
	return v.vr.Spec.DataSource.Kind == claimSource && v.conn.can("volume_replication.GET_REPLICATION_DESTINATION_INFO")
}

// expectDestination: A-VR-16
func (v *replicationPass) expectDestination() error {
	if !v.hasDestination() || meta.FindStatusCondition(v.vr.Status.Conditions, destination) != nil {
		return nil
	}
	v.say(destination, metav1.ConditionFalse, "DestinationInfoPending", v.of("destination info is pending update"))
	return v.save(v.state(), "destination info pending retrieval")
}

// fetchDestination: A-VR-16
func (v *replicationPass) fetchDestination() error {
	if !v.hasDestination() || meta.IsStatusConditionTrue(v.vr.Status.Conditions, destination) {
		return nil
	}
	answer, err := v.ask(relay.Destination, false)
	if err != nil {
		return err
	}
	info, _ := answer.(*replication.GetReplicationDestinationInfoResponse)
	id := info.GetReplicationDestination().GetVolume().GetVolumeId()
	if id == "" {
		return errors.New("replication destination volume ID is empty")
	}
	v.vr.Status.DestinationVolumeID = id
	v.say(destination, metav1.ConditionTrue, "DestinationInfoUpdated", v.of("destination info is available"))
	return nil
}
