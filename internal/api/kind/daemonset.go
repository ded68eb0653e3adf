package kind

import (
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
)

func init() {
	register(Kind{
		Group: "apps", Version: "v1", Name: "DaemonSet",
		ShortNames: []string{"ds"}, Categories: []string{"all"},
		traits: withStatus | withGeneration, rules: daemonSetRules,
		Columns: daemonSetColumns,
		Warnings: fromBoth(func(set, old *appsv1.DaemonSet) []string {
			if old != nil && templateGeneration(set) == templateGeneration(old) {
				return nil
			}
			return podWarnings(field.NewPath("spec", "template"), &set.Spec.Template.Spec)
		}),
	})
}

var daemonSetRules = rules[*appsv1.DaemonSet]{
	fill: func(obj *appsv1.DaemonSet) { fillDaemonSet(&obj.Spec) },
	admit: func(_ admission, set *appsv1.DaemonSet) error {
		setTemplateGeneration(set, max(1, templateGeneration(set)))
		return nil
	},
	prepare: func(set, was *appsv1.DaemonSet) {
		generation := templateGeneration(was)
		if !store.Same(&set.Spec.Template, &was.Spec.Template) {
			generation++
		}
		setTemplateGeneration(set, generation)
	},
	validate: checkDaemonSet,
	validateUpdate: func(set, was *appsv1.DaemonSet) field.ErrorList {
		return append(fixed(set.Spec.Selector, was.Spec.Selector), checkDaemonSet(set)...)
	},
	validateStatus: func(obj, old *appsv1.DaemonSet) field.ErrorList {
		return checkDaemonSetStatus(&obj.Status, &old.Status)
	},
}

// The generation of a template is in an annotation, because apps/v1beta2 has no field for it.
func templateGeneration(set *appsv1.DaemonSet) int64 {
	generation, _ := strconv.ParseInt(set.Annotations[appsv1.DeprecatedTemplateGeneration], 10, 64)
	return generation
}

func setTemplateGeneration(set *appsv1.DaemonSet, generation int64) {
	if generation == templateGeneration(set) {
		return
	}
	set.Annotations = maps.Clone(set.Annotations)
	metav1.SetMetaDataAnnotation(&set.ObjectMeta, appsv1.DeprecatedTemplateGeneration, strconv.FormatInt(generation, 10))
}

func fillDaemonSet(spec *appsv1.DaemonSetSpec) {
	setDefault(&spec.RevisionHistoryLimit, 10)
	setEmpty(&spec.UpdateStrategy.Type, appsv1.RollingUpdateDaemonSetStrategyType)
	if spec.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		setDefault(&spec.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateDaemonSet{})
		setDefault(&spec.UpdateStrategy.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
		setDefault(&spec.UpdateStrategy.RollingUpdate.MaxSurge, intstr.FromInt32(0))
	} else if rolling := spec.UpdateStrategy.RollingUpdate; rolling != nil {
		// The stored form has numbers in these fields.
		setDefault(&rolling.MaxUnavailable, intstr.FromInt32(0))
		setDefault(&rolling.MaxSurge, intstr.FromInt32(0))
	}
	fillPodSpec(&spec.Template.Spec)
}

func checkDaemonSet(d *appsv1.DaemonSet) field.ErrorList {
	at := field.NewPath("spec")
	errs := workloadSpec{kind: "daemonset", pods: "DaemonSet", selector: d.Spec.Selector, template: &d.Spec.Template, mayLackSelector: true}.check()
	errs = append(errs, natural(at.Child("minReadySeconds"), int64(d.Spec.MinReadySeconds))...)
	errs = append(errs, natural(at.Child("templateGeneration"), templateGeneration(d))...)
	errs = append(errs, daemonSetStrategy(&d.Spec.UpdateStrategy, at.Child("updateStrategy"))...)
	return append(errs, natural(at.Child("revisionHistoryLimit"), int64(*d.Spec.RevisionHistoryLimit))...)
}

func daemonSetStrategy(strategy *appsv1.DaemonSetUpdateStrategy, at *field.Path) (errs field.ErrorList) {
	switch strategy.Type {
	case appsv1.OnDeleteDaemonSetStrategyType:
		return nil
	case appsv1.RollingUpdateDaemonSetStrategyType:
	default:
		return field.ErrorList{field.NotSupported(at, goNames{strategy},
			[]appsv1.DaemonSetUpdateStrategyType{appsv1.RollingUpdateDaemonSetStrategyType, appsv1.OnDeleteDaemonSetStrategyType})}
	}
	unavailable, surge := *strategy.RollingUpdate.MaxUnavailable, *strategy.RollingUpdate.MaxSurge
	atUnavailable, atSurge := at.Child("rollingUpdate", "maxUnavailable"), at.Child("rollingUpdate", "maxSurge")
	errs = append(errs, share(atUnavailable, unavailable)...)
	errs = append(errs, share(atSurge, surge)...)
	errs = append(errs, atMostAll(atUnavailable, unavailable)...)
	errs = append(errs, atMostAll(atSurge, surge)...)
	switch {
	case !isNone(unavailable) && !isNone(surge):
		errs = append(errs, field.Invalid(atSurge, surge, "may not be set when maxUnavailable is non-zero"))
	case isNone(unavailable) && isNone(surge):
		errs = append(errs, field.Required(atUnavailable, "cannot be 0 when maxSurge is 0"))
	}
	return errs
}

func checkDaemonSetStatus(now, was *appsv1.DaemonSetStatus) field.ErrorList {
	errs := tallies(tally{"currentNumberScheduled", int64(now.CurrentNumberScheduled)}, tally{"numberMisscheduled", int64(now.NumberMisscheduled)},
		tally{"desiredNumberScheduled", int64(now.DesiredNumberScheduled)}, tally{"numberReady", int64(now.NumberReady)},
		tally{"observedGeneration", now.ObservedGeneration}, tally{"updatedNumberScheduled", int64(now.UpdatedNumberScheduled)},
		tally{"numberAvailable", int64(now.NumberAvailable)}, tally{"numberUnavailable", int64(now.NumberUnavailable)},
		tally{"collisionCount", int64(orZero(now.CollisionCount))})
	return append(errs, collisions(now.CollisionCount, was.CollisionCount)...)
}

var daemonSetColumns = append(append([]Column{
	nameColumn,
	show("Desired", "integer", func(d *appsv1.DaemonSet) any { return int64(d.Status.DesiredNumberScheduled) }),
	show("Current", "integer", func(d *appsv1.DaemonSet) any { return int64(d.Status.CurrentNumberScheduled) }),
	show("Ready", "integer", func(d *appsv1.DaemonSet) any { return int64(d.Status.NumberReady) }),
	show("Up-to-date", "integer", func(d *appsv1.DaemonSet) any { return int64(d.Status.UpdatedNumberScheduled) }),
	show("Available", "integer", func(d *appsv1.DaemonSet) any { return int64(d.Status.NumberAvailable) }),
	text("Node Selector", func(d *appsv1.DaemonSet) string { return labels.FormatLabels(d.Spec.Template.Spec.NodeSelector) }),
	ageColumn,
}, containerColumns(func(d *appsv1.DaemonSet) corev1.PodSpec { return d.Spec.Template.Spec })...),
	selectorColumn(func(d *appsv1.DaemonSet) *metav1.LabelSelector { return d.Spec.Selector }))
