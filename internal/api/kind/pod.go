package kind

import (
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
)

func init() {
	register(Kind{
		Version: "v1", Name: "Pod",
		ShortNames: []string{"po"}, Categories: []string{"all"},
		traits: withStatus | withGeneration, rules: podRules,
		Columns: podColumns,
		Fields: selectable(map[string]func(*corev1.Pod) string{
			"spec.nodeName":           podNode,
			"spec.host":               podNode, // of clients from before v1
			"spec.restartPolicy":      func(p *corev1.Pod) string { return string(p.Spec.RestartPolicy) },
			"spec.schedulerName":      func(p *corev1.Pod) string { return p.Spec.SchedulerName },
			"spec.serviceAccountName": func(p *corev1.Pod) string { return p.Spec.ServiceAccountName },
			"spec.hostNetwork":        func(p *corev1.Pod) string { return strconv.FormatBool(p.Spec.HostNetwork) },
			"status.phase":            func(p *corev1.Pod) string { return string(p.Status.Phase) },
			"status.podIP":            podIP,
			// The real server supports the label, but never reads the field.
			"status.podIPs":            func(*corev1.Pod) string { return "" },
			"status.nominatedNodeName": func(p *corev1.Pod) string { return p.Status.NominatedNodeName },
		}),
		Warnings: fromBoth(func(pod, old *corev1.Pod) []string {
			if old != nil {
				// Updates cause no warnings. [pkg/registry/core/pod/strategy.go:
				// podStrategy.WarningsOnUpdate]
				return nil
			}
			return append(nameWarning("the Pod's hostname", pod.Name), podWarnings(nil, &pod.Spec)...)
		}),
		AnswersDeleted: true,
		Subresources: []Subresource{
			{Name: "attach", Verbs: ConnectVerbs, GVK: schema.GroupVersionKind{Version: "v1", Kind: "PodAttachOptions"}},
			{Name: "binding", Verbs: []string{"create"}, GVK: schema.GroupVersionKind{Version: "v1", Kind: "Binding"}},
			{Name: "ephemeralcontainers", Verbs: PartVerbs},
			{Name: "eviction", Verbs: []string{"create"}, GVK: schema.GroupVersionKind{Group: "policy", Version: "v1", Kind: "Eviction"}},
			{Name: "exec", Verbs: ConnectVerbs, GVK: schema.GroupVersionKind{Version: "v1", Kind: "PodExecOptions"}},
			{Name: "log", Verbs: []string{"get"}},
			{Name: "portforward", Verbs: ConnectVerbs, GVK: schema.GroupVersionKind{Version: "v1", Kind: "PodPortForwardOptions"}},
			{Name: "proxy", Verbs: proxyVerbs, GVK: schema.GroupVersionKind{Version: "v1", Kind: "PodProxyOptions"}},
			{Name: "resize", Verbs: PartVerbs},
		},
	})
}

func podNode(pod *corev1.Pod) string { return pod.Spec.NodeName }

const (
	// PodsByNode finds pods by spec.nodeName.
	PodsByNode store.Index = "pods by node"
	// PodsByClaim finds pods by the "namespace/claim" of a volume. The claim of a
	// generic ephemeral volume is "namespace/pod-volume".
	PodsByClaim store.Index = "pods by claim"
)

var podRules = rules[*corev1.Pod]{
	copyPart:       store.CopyOf(func(o *corev1.Pod) (*corev1.PodSpec, *corev1.PodStatus) { return &o.Spec, &o.Status }),
	room:           roomForPod,
	fill:           fillPod,
	share:          func(_ *store.Shared, obj *corev1.Pod, _ bool) { sharePod(obj) },
	admit:          admitPod,
	prepare:        keepPriority,
	limit:          limitPod,
	prepareStatus:  keepPodStatus,
	validate:       checkPod,
	validateStatus: checkPodStatus,
	passes:         []store.Pass{store.PassMetadata, store.PassObject, store.PassChange},
	validateUpdate: checkPodUpdate,
	grace:          podGrace,
	quota:          &podQuota,
	indexes: []store.Indexer{
		store.IndexBy(PodsByNode, func(to []string, pod *corev1.Pod) []string {
			if pod.Spec.NodeName == "" {
				return to
			}
			return append(to, pod.Spec.NodeName)
		}),
		store.IndexBy(PodsByClaim, func(to []string, pod *corev1.Pod) []string {
			for i := range pod.Spec.Volumes {
				if claim := claimOf(pod, &pod.Spec.Volumes[i]); claim != "" && !slices.Contains(to, claim) {
					to = append(to, claim)
				}
			}
			return to
		}),
	},
}

// claimOf returns the "namespace/name" of the claim of a pod's volume, "" if it has none.
func claimOf(pod *corev1.Pod, volume *corev1.Volume) string {
	switch {
	case volume.PersistentVolumeClaim != nil:
		return pod.Namespace + "/" + volume.PersistentVolumeClaim.ClaimName
	case volume.Ephemeral != nil:
		return pod.Namespace + "/" + pod.Name + "-" + volume.Name
	}
	return ""
}

// podGrace returns the grace period of a pod in seconds: 0 if it has no node.
func podGrace(pod *corev1.Pod, requested *int64) int64 {
	grace := int64(0)
	switch {
	case requested != nil:
		grace = *requested
	case pod.Spec.TerminationGracePeriodSeconds != nil:
		grace = *pod.Spec.TerminationGracePeriodSeconds
	}
	ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	if pod.Spec.NodeName == "" || ended {
		return 0
	}
	if grace < 0 {
		return 1
	}
	return grace
}

// keepPodStatus restores the fields of a pod that a status write cannot change.
func keepPodStatus(_ metav1.Time, pod, was *corev1.Pod) {
	pod.OwnerReferences = was.OwnerReferences
	setEmpty(&pod.Status.QOSClass, was.Status.QOSClass)
	if pod.Status.ObservedGeneration == 0 {
		pod.Status.ObservedGeneration = was.Status.ObservedGeneration
	}
}

// admitPod applies the admission plugins of a default cluster to a new pod, in their order, and
// then the server's own changes.
func admitPod(a admission, pod *corev1.Pod) error {
	applyLimitRanges(a.cluster, pod)
	if !a.options.noServiceAccounts {
		setEmpty(&pod.Spec.ServiceAccountName, defaultAccount)
		if err := checkAccount(a.cluster, pod); err != nil {
			return err
		}
	}
	pod.Spec.DeprecatedServiceAccount = pod.Spec.ServiceAccountName
	if err := setPriority(a.cluster, pod); err != nil {
		return err
	}
	tolerate(pod, corev1.TaintNodeNotReady)
	tolerate(pod, corev1.TaintNodeUnreachable)
	if err := applyRuntimeClass(a.cluster, pod); err != nil {
		return err
	}
	if pod.Spec.NodeName != "" {
		copyTopology(a.cluster, pod)
	}
	pod.Status.QOSClass = qosClass(pod)
	if len(pod.Spec.SchedulingGates) > 0 {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonSchedulingGated,
			Message: "Scheduling is blocked due to non-empty scheduling gates", LastTransitionTime: a.now,
		})
	}
	mergeLabelKeys(pod)
	return nil
}

// defaultAccount is the service account of pods that name none.
const defaultAccount = "default"

// checkAccount rejects a pod with a service account that is missing. The default account counts as
// existing, because a controller creates it in each namespace. C-API-3
func checkAccount(cluster store.Reader, pod *corev1.Pod) error {
	name := pod.Spec.ServiceAccountName
	if name == defaultAccount || pod.Annotations[corev1.MirrorPodAnnotationKey] != "" {
		return nil
	}
	if _, ok := store.Get[*corev1.ServiceAccount](cluster, store.Key{Namespace: pod.Namespace, Name: name}); ok {
		return nil
	}
	missing := apierrors.NewNotFound(corev1.Resource("serviceaccount"), name)
	return apierrors.NewForbidden(corev1.Resource("pods"), pod.Name, fmt.Errorf("error looking up service account %s/%s: %w", pod.Namespace, name, missing))
}

// tolerationSeconds is the time for which a pod stays on a node that is not ready or unreachable.
const tolerationSeconds = 300

func tolerate(pod *corev1.Pod, taint string) {
	for _, t := range pod.Spec.Tolerations {
		effect := t.Effect == corev1.TaintEffectNoExecute || t.Effect == ""
		if effect && (t.Key == taint || t.Key == "") {
			return
		}
	}
	pod.Spec.Tolerations = append(pod.Spec.Tolerations, tolerationOf(taint))
}

func tolerationOf(taint string) corev1.Toleration {
	seconds := int64(tolerationSeconds)
	return corev1.Toleration{Key: taint, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds}
}

// checkPodStatus returns the field errors of a status from a kubelet or a scheduler.
func checkPodStatus(pod, was *corev1.Pod) (errs field.ErrorList) {
	errs = podConditions(pod.Status.Conditions)
	if name := pod.Status.NominatedNodeName; name != was.Status.NominatedNodeName && name != "" {
		path := field.NewPath("status", "nominatedNodeName")
		errs = append(errs, subdomain(path, name)...)
		if was.Spec.NodeName != "" {
			errs = append(errs, field.Forbidden(path, "may not be set on pods that are already bound to a node"))
		}
	}
	if pod.Status.ObservedGeneration < 0 {
		errs = append(errs, wholeNumber(field.NewPath("status", "observedGeneration"), pod.Status.ObservedGeneration)...)
	}
	if pod.Status.QOSClass != was.Status.QOSClass {
		errs = append(errs, immutable(field.NewPath("status", "qosClass"), pod.Status.QOSClass, was.Status.QOSClass)...)
	}
	errs = append(errs, containerEnds(pod, was)...)
	errs = append(errs, podAddresses(&pod.Status, &was.Status)...)
	for _, of := range []struct {
		name     string
		statuses []corev1.ContainerStatus
	}{{"containerStatuses", pod.Status.ContainerStatuses}, {"initContainerStatuses", pod.Status.InitContainerStatuses}, {"ephemeralContainerStatuses", pod.Status.EphemeralContainerStatuses}} {
		if len(of.statuses) > 0 {
			errs = append(errs, containerUsers(field.NewPath("status", of.name), of.statuses, pod.Spec.OS)...)
		}
	}
	return errs
}
