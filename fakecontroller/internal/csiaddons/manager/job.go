package manager

import (
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/kinds"
	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/relay"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// The values for 0 in the spec of a job. A-RS-2
const (
	defaultBackoffLimit  = 6
	defaultRetryDeadline = 600
)

// abortedPause is the first pause after ABORTED. A-RS-4
const abortedPause = 5 * time.Second

var errNodeClientNotFound = errors.New("node client not found")

// target is the volume of a job. A-RS-5
type target struct {
	driver, volume string
	node           string // node to which it is attached; empty if it is detached
	timeout        time.Duration
}

// jobKind is a kind of jobs.
type jobKind struct {
	name string // as messages name it
	done string // the message of success
	get  func(*component.Component, store.Key) (jobObject, error)
	// try does the work of one pass.
	try func(*job, *kernel.Process, target) error
	// timeout bounds each call, unless the spec sets another timeout.
	timeout time.Duration
	// noClient is the error of a node without a sidecar: errNodeClientNotFound and the node.
	noClient string
	// noClientPause is the pause after a pass that found no sidecar on the node. Default: the pause
	// of the queue. A-RS-4
	noClientPause time.Duration
}

// job is a pass over a job of either kind.
type job struct {
	manager *Manager
	object  kinds.Object
	*kinds.Job
	kind jobKind
}

// syncJob returns the handler for a kind of jobs. It makes one pass over a job.
func (m *Manager) syncJob(kind jobKind) handler {
	return func(p *kernel.Process, key store.Key) error {
		object, err := kind.get(m.Component, key)
		if err != nil {
			return ignoreNotFound(err)
		}
		j := &job{manager: m, object: object, Job: object.Shared(), kind: kind}
		return j.run(p)
	}
}

// run makes one pass.
func (j *job) run(p *kernel.Process) error {
	if j.DeletionTimestamp != nil || j.Status.Result != "" { // A-RS-2
		return nil
	}
	if j.Spec.Target.Claim == "" {
		j.end(p, "Failed", fmt.Sprintf("Failed to validate %s.Spec: required parameter 'PersistentVolumeClaim' in %s.Spec.Target is empty", j.kind.name, j.kind.name))
		return j.save(p)
	}
	limit := j.Spec.BackoffLimit
	if limit == 0 {
		limit = defaultBackoffLimit
	}
	err := j.pass(p)
	if j.Status.Result == "" && j.Status.Retries == limit { // A-RS-3
		j.end(p, "Failed", "Maximum retry limit reached")
	}
	retries := j.Status.Retries
	if saved := j.save(p); saved != nil {
		return saved
	}
	switch {
	case j.Status.Result != "":
		return nil
	case errors.Is(err, errNodeClientNotFound) && j.kind.noClientPause > 0:
		return after(j.kind.noClientPause)
	case status.Code(err) == codes.Aborted:
		return after(abortedPause << retries)
	}
	return err
}

// pass counts an attempt and, unless it is too late, makes it. A-RS-3
func (j *job) pass(p *kernel.Process) error {
	now := metav1.NewTime(p.Now())
	if j.Status.StartTime == nil {
		j.Status.StartTime = &now
	} else {
		j.Status.Retries++
	}
	deadline := j.Spec.RetryDeadlineSeconds
	if deadline == 0 {
		deadline = defaultRetryDeadline
	}
	if p.Now().After(j.CreationTimestamp.Add(time.Duration(deadline) * time.Second)) {
		j.end(p, "Failed", "Time limit reached")
		return nil
	}
	on, err := j.manager.targetOf(j.Namespace, j.Spec, j.kind.timeout)
	if err != nil {
		j.failed(p, "Failed to get target details")
		return err
	}
	if err := j.kind.try(j, p, on); err != nil {
		return err
	}
	j.end(p, "Succeeded", j.kind.done)
	return nil
}

// askNode calls the sidecar of the node to which the volume is attached.
func (j *job) askNode(p *kernel.Process, on target, capability, method string, do func(relay.Asked, relay.Call) error) error {
	err := fmt.Errorf(j.kind.noClient, errNodeClientNotFound, on.node)
	if c := j.manager.onNode(on.driver, on.node, capability); c != nil {
		err = unlessUnimplemented(c.call(p, method, on.timeout, do))
	}
	if err != nil {
		j.failed(p, "Failed to make node request: "+messageOf(err))
	}
	return err
}

// unlessUnimplemented counts an operation that a driver has not implemented as done. A-RS-6
func unlessUnimplemented(err error) error {
	if status.Code(err) == codes.Unimplemented {
		return nil
	}
	return err
}

func (j *job) end(p *kernel.Process, result, message string) {
	now := metav1.NewTime(p.Now())
	j.Status.Result, j.Status.Message, j.Status.CompletionTime = result, message, &now
}

func (j *job) save(p *kernel.Process) error {
	return kinds.UpdateStatus(p, j.manager.Component, j.object)
}

// failed replaces the previous condition. A-RS-9
func (j *job) failed(p *kernel.Process, message string) {
	condition := metav1.Condition{
		Type: "Failed", Status: metav1.ConditionTrue, Reason: "failed", Message: message,
		ObservedGeneration: j.Generation, LastTransitionTime: metav1.NewTime(p.Now()),
	}
	for i := range j.Status.Conditions {
		if j.Status.Conditions[i].Type == condition.Type {
			j.Status.Conditions[i] = condition
			return
		}
	}
	j.Status.Conditions = append(j.Status.Conditions, condition)
}

// targetOf: A-RS-5, A-RS-7
func (m *Manager) targetOf(namespace string, spec kinds.JobSpec, timeout time.Duration) (target, error) {
	key := store.Key{Namespace: namespace, Name: spec.Target.Claim}
	pvc, ok := component.Cached[*corev1.PersistentVolumeClaim](m.Component, key)
	switch {
	case !ok:
		return target{}, kinds.NotCached(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"), key)
	case pvc.Status.Phase != corev1.ClaimBound:
		return target{}, fmt.Errorf("PVC %q is not bound to any PV", key.Name)
	}
	pv, ok := component.Cached[*corev1.PersistentVolume](m.Component, store.Key{Name: pvc.Spec.VolumeName})
	switch {
	case !ok:
		return target{}, kinds.NotCached(corev1.SchemeGroupVersion.WithKind("PersistentVolume"), store.Key{Name: pvc.Spec.VolumeName})
	case pv.Spec.CSI == nil:
		return target{}, fmt.Errorf("%q PV is not a CSI PVC", pv.Name)
	}
	t := target{driver: pv.Spec.CSI.Driver, volume: pv.Name, node: m.nodeOf(pv.Name), timeout: timeout}
	if spec.Timeout != nil {
		t.timeout = time.Duration(*spec.Timeout) * time.Second
	}
	return t, nil
}

// nodeOf returns the node of the first attachment that is attached and is not being deleted. A-RS-5
func (m *Manager) nodeOf(volume string) string {
	for va := range store.List[*storagev1.VolumeAttachment](m.Cache, "") {
		source := va.Spec.Source.PersistentVolumeName
		if va.DeletionTimestamp == nil && va.Status.Attached && source != nil && *source == volume {
			return va.Spec.NodeName
		}
	}
	return ""
}
