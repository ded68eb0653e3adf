package kind

import (
	"fmt"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
)

// WithEphemeralContainers returns the old pod with the given ephemeral containers, for a write of
// this subresource.
func WithEphemeralContainers(given, old store.Object) store.Object {
	pod := typed[*corev1.Pod](old).DeepCopy()
	pod.Spec.EphemeralContainers = typed[*corev1.Pod](given).Spec.EphemeralContainers
	pod.ResourceVersion, pod.UID = given.GetResourceVersion(), given.GetUID()
	return pod
}

// CheckEphemeralContainers returns the errors of a write of a pod's ephemeral containers: they can
// only be added.
func CheckEphemeralContainers(obj, before store.Object) field.ErrorList {
	pod, old := typed[*corev1.Pod](obj), typed[*corev1.Pod](before)
	at := field.NewPath("spec", "ephemeralContainers")
	volumes, _ := podVolumes(&pod.Spec, pod.Name, field.NewPath("spec", "volumes"))
	errs := ephemeralContainers(at, &pod.Spec, volumes)
	for i := range old.Spec.EphemeralContainers {
		was := &old.Spec.EphemeralContainers[i]
		kept := slices.IndexFunc(pod.Spec.EphemeralContainers, func(c corev1.EphemeralContainer) bool { return c.Name == was.Name })
		if kept < 0 {
			errs = append(errs, field.Forbidden(at, fmt.Sprintf("existing ephemeral containers %q may not be removed\n", was.Name)))
			continue
		}
		if now := &pod.Spec.EphemeralContainers[kept]; !equality.Semantic.DeepEqual(was, now) {
			errs = append(errs, field.Forbidden(at, fmt.Sprintf("existing ephemeral containers %q may not be changed\n%v", was.Name, diff.Diff(goNames{*was}, goNames{*now}))))
		}
	}
	return errs
}

// neverEphemeral are fields that ephemeral containers cannot have.
var neverEphemeral = []struct{ name, goName string }{
	{"ports", "Ports"}, {"resources", "Resources"}, {"resizePolicy", "ResizePolicy"}, {"restartPolicy", "RestartPolicy"},
	{"restartPolicyRules", "RestartPolicyRules"}, {"livenessProbe", "LivenessProbe"}, {"readinessProbe", "ReadinessProbe"},
	{"startupProbe", "StartupProbe"}, {"lifecycle", "Lifecycle"},
}

func ephemeralContainers(at *field.Path, spec *corev1.PodSpec, volumes map[string]*corev1.VolumeSource) (errs field.ErrorList) {
	const forbidden = "cannot be set for an Ephemeral Container"
	var others []string
	for _, c := range slices.Concat(spec.Containers, spec.InitContainers) {
		others = append(others, c.Name)
	}
	names := slices.Clone(others)
	for i := range spec.EphemeralContainers {
		at, e := at.Index(i), &spec.EphemeralContainers[i]
		c := corev1.Container(e.EphemeralContainerCommon)
		errs = append(errs, container(at, &c, volumes, spec)...)
		if slices.Contains(names, c.Name) {
			errs = append(errs, field.Duplicate(at.Child("name"), c.Name))
		}
		names = append(names, c.Name)
		if target := e.TargetContainerName; target != "" && !slices.Contains(others, target) {
			errs = append(errs, field.NotFound(at.Child("targetContainerName"), target))
		}
		for _, never := range neverEphemeral {
			if !reflect.ValueOf(c).FieldByName(never.goName).IsZero() {
				errs = append(errs, field.Forbidden(at.Child(never.name), forbidden))
			}
		}
		for i, m := range c.VolumeMounts {
			at := at.Child("volumeMounts").Index(i)
			if m.SubPath != "" {
				errs = append(errs, field.Forbidden(at.Child("subPath"), forbidden))
			}
			if m.SubPathExpr != "" {
				errs = append(errs, field.Forbidden(at.Child("subPathExpr"), forbidden))
			}
		}
	}
	return errs
}
