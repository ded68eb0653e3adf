// Package unsimulated lists the fields of objects that are accepted without an effect in a
// simulation, although they affect storage or pods in a real cluster. A test finds them. It walks
// the types and the code that acts on objects.
package unsimulated

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// Field is a field without effect.
type Field struct {
	// Path is the path from the spec to the field, through lists without their indexes.
	Path string
	// Missing names the missing effect of a real cluster.
	Missing string
}

// finder is the path from a spec to a field. It has an index path for each structure on the way. It
// is created once, because reflection is slow.
type finder [][]int

// finders returns the finders of the fields, by type of the spec and path.
var finders = sync.OnceValue(func() map[reflect.Type]map[string]finder {
	all := map[reflect.Type]map[string]finder{}
	for t, fields := range map[reflect.Type][]Field{
		reflect.TypeFor[corev1.PodSpec](): ofPods, reflect.TypeFor[batchv1.JobSpec](): ofJobs,
		reflect.TypeFor[appsv1.DeploymentSpec](): ofDeployments, reflect.TypeFor[corev1.PersistentVolumeSpec](): ofVolumes,
	} {
		all[t] = map[string]finder{}
		for _, f := range fields {
			all[t][f.Path] = findIn(t, strings.Split(f.Path, "."))
		}
	}
	return all
})

func findIn(t reflect.Type, path []string) (found finder) {
	for _, name := range path {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		for _, f := range reflect.VisibleFields(t) {
			if called, _, _ := strings.Cut(f.Tag.Get("json"), ","); called == name {
				found, t = append(found, f.Index), f.Type
				break
			}
		}
	}
	return found
}

// simulated lists values of fields that have their effect, unlike the other values of the field.
var simulated = []any{corev1.ContainerRestartRuleActionRestart, corev1.DoNotSchedule}

// inTree is the effect for volumes that no CSI driver makes.
const inTree = "the volume counts as existing: nothing is mounted"

// ofPods lists the fields of pods, and of all templates of pods.
var ofPods = append([]Field{
	{"volumes.emptyDir.medium", "the directory is on the disk of the node"},
	{"volumes.emptyDir.sizeLimit", "no pod is evicted for its size"},
	{"containers.volumeMounts.recursiveReadOnly", "mounts below the mount stay writable"},
	{"initContainers.volumeMounts.recursiveReadOnly", "mounts below the mount stay writable"},
	{"containers.env.valueFrom.fileKeyRef", "the variable is not set"},
	{"initContainers.env.valueFrom.fileKeyRef", "the variable is not set"},
	{"containers.restartPolicyRules.action", "RestartAllContainers restarts only that container"},
	{"initContainers.restartPolicyRules.action", "RestartAllContainers restarts only that container"},
	{"volumes.projected.sources.clusterTrustBundle", "the file is missing"},
	{"volumes.projected.sources.podCertificate", "the file is missing"},
	{"securityContext.supplementalGroupsPolicy", "the groups of the image are ignored"},
	{"affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution", "nodes are not scored"},
	{"affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution", "nodes are not scored"},
	{"affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution", "nodes are not scored"},
	{"topologySpreadConstraints.whenUnsatisfiable", "ScheduleAnyway: nodes are not scored"},
	{"resourceClaims", "no devices are allocated"},
	{"hostUsers", "users are not mapped"},
	{"schedulingGroup", "the pod is scheduled by itself"},
}, volumes("volumes.", "gitRepo", "nfs", "glusterfs", "flexVolume", "cephfs", "flocker", "fc", "quobyte",
	"photonPersistentDisk", "scaleIO", "storageos", "iscsi", "rbd", "image")...)

var ofJobs = []Field{
	{"manualSelector", "pods are found by their owner"},
}

var ofDeployments = []Field{{"paused", "the rollout continues"}}

var ofVolumes = volumes("", "nfs", "glusterfs", "cephfs", "fc", "flocker", "flexVolume", "quobyte",
	"photonPersistentDisk", "scaleIO", "storageos", "iscsi", "rbd")

// kinds maps the kinds that have no effect here to their effect in a real cluster.
var kinds = map[string]string{
	"CertificateSigningRequest": "nothing signs", "HorizontalPodAutoscaler": "nothing is measured or scaled", "Ingress": "nothing serves it",
	"MutatingWebhookConfiguration": "no webhook is called", "NetworkPolicy": "all pods reach each other",
	"ReplicationController": "no pods are created", "ResourceClaim": "no devices are allocated", "ResourceClaimTemplate": "no claims are created",
	"ValidatingAdmissionPolicy": "it is not evaluated", "ValidatingWebhookConfiguration": "no webhook is called",
}

// Kinds returns the kinds without an effect here, with their effect in a real cluster.
func Kinds() map[string]string { return maps.Clone(kinds) }

func volumes(prefix string, names ...string) (fields []Field) {
	for _, name := range names {
		fields = append(fields, Field{prefix + name, inTree})
	}
	return fields
}

// Of returns a sentence for each set field of an object that has no effect. For a kind without an
// effect it returns one sentence.
func Of(obj any) (says []string) {
	add := func(path string, spec any, fields []Field) {
		v := reflect.ValueOf(spec).Elem()
		find := finders()[v.Type()]
		for _, f := range fields {
			if isSet(v, find[f.Path]) {
				says = append(says, fmt.Sprintf("%s.%s has no effect in csisim: %s", path, f.Path, f.Missing))
			}
		}
	}
	ofJob := func(path string, spec *batchv1.JobSpec) {
		given := *spec
		if p := given.ManualSelector; p != nil && !*p {
			given.ManualSelector = nil
		}
		add(path, &given, ofJobs)
		add(path+".template.spec", &spec.Template.Spec, ofPods)
	}
	if t := reflect.TypeOf(obj).Elem(); strings.HasPrefix(t.PkgPath(), "k8s.io/api/") {
		if missing, is := kinds[t.Name()]; is {
			return []string{fmt.Sprintf("%s has no effect in csisim: %s", t.Name(), missing)}
		}
	}
	switch o := obj.(type) {
	case *corev1.Pod:
		add("spec", &o.Spec, ofPods)
	case *appsv1.StatefulSet:
		add("spec.template.spec", &o.Spec.Template.Spec, ofPods)
	case *appsv1.DaemonSet:
		add("spec.template.spec", &o.Spec.Template.Spec, ofPods)
	case *appsv1.ReplicaSet:
		add("spec.template.spec", &o.Spec.Template.Spec, ofPods)
	case *appsv1.Deployment:
		add("spec", &o.Spec, ofDeployments)
		add("spec.template.spec", &o.Spec.Template.Spec, ofPods)
	case *batchv1.Job:
		ofJob("spec", &o.Spec)
	case *batchv1.CronJob:
		ofJob("spec.jobTemplate.spec", &o.Spec.JobTemplate.Spec)
	case *corev1.PersistentVolume:
		add("spec", &o.Spec, ofVolumes)
	}
	return says
}

// isSet reports whether a field is set in a value, in any element of the lists on its path.
func isSet(v reflect.Value, path finder) bool {
	switch v.Kind() {
	case reflect.Pointer:
		return !v.IsNil() && (len(path) == 0 || isSet(v.Elem(), path))
	case reflect.Slice:
		if len(path) == 0 {
			return v.Len() > 0
		}
		for i := range v.Len() {
			if isSet(v.Index(i), path) {
				return true
			}
		}
		return false
	}
	if len(path) == 0 {
		return !v.IsZero() && !slices.Contains(simulated, v.Interface())
	}
	return isSet(v.FieldByIndex(path[0]), path[1:])
}

// Listed returns the fields by kind, for the page that lists them.
func Listed() map[string][]Field {
	return map[string][]Field{"Pod, and templates of pods": ofPods, "Job": ofJobs, "Deployment": ofDeployments, "PersistentVolume": ofVolumes}
}
