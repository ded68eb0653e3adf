package kind

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/csisim/csisim/internal/world/lazyregexp"
	"github.com/csisim/csisim/internal/world/store"
)

func init() {
	register(Kind{
		Version: "v1", Name: "Node",
		ShortNames: []string{"no"},
		traits:     clusterScoped | withStatus, rules: nodeRules,
		Columns: nodeColumns,
		Fields: selectable(map[string]func(*corev1.Node) string{
			"spec.unschedulable": func(o *corev1.Node) string { return strconv.FormatBool(o.Spec.Unschedulable) },
		}),
		Subresources: []Subresource{
			{Name: "proxy", Verbs: proxyVerbs, GVK: schema.GroupVersionKind{Version: "v1", Kind: "NodeProxyOptions"}},
		},
		Warnings: fromBoth(func(obj, _ *corev1.Node) []string { return nodeWarnings(&obj.Spec) }),
	})
}

// notReady is the taint of a node that has not yet been observed to be ready.
var notReady = corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}

var nodeRules = rules[*corev1.Node]{
	copyPart:    store.CopyOf(func(o *corev1.Node) (*corev1.NodeSpec, *corev1.NodeStatus) { return &o.Spec, &o.Status }),
	keepsStatus: true,
	admit: func(a admission, obj *corev1.Node) error {
		if spec := &obj.Spec; a.options.taintNewNodes && !slices.Contains(spec.Taints, notReady) {
			spec.Taints = append(spec.Taints, notReady)
		}
		return nil
	},
	fill: func(node *corev1.Node) {
		fillPodCIDRs(&node.Spec)
		// The kubelet's dynamic configuration was removed.
		//lint:ignore SA1019 clients may still send it
		node.Spec.ConfigSource, node.Status.Config = nil, nil
		if status := &node.Status; len(status.Allocatable) == 0 && status.Capacity != nil {
			status.Allocatable = status.Capacity.DeepCopy()
		}
	},
	passes:         []store.Pass{store.PassObject, store.PassMetadata, store.PassChange},
	validate:       checkNode,
	validateUpdate: checkNodeUpdate,
	validateStatus: checkNodeUpdate,
}

// fillPodCIDRs keeps the older single field equal to the first of the list.
func fillPodCIDRs(spec *corev1.NodeSpec) {
	switch {
	case spec.PodCIDR != "" && (len(spec.PodCIDRs) == 0 || spec.PodCIDRs[0] != spec.PodCIDR):
		spec.PodCIDRs = []string{spec.PodCIDR}
	case spec.PodCIDR == "" && len(spec.PodCIDRs) > 0:
		spec.PodCIDR = spec.PodCIDRs[0]
	}
}

func checkNode(node *corev1.Node) field.ErrorList {
	errs := append(taints(node.Spec.Taints), nodeResources(&node.Status)...)
	errs = append(errs, nodeSwap(node.Status.NodeInfo.Swap)...)
	errs = append(errs, declaredFeatures(node.Status.DeclaredFeatures)...)
	return append(errs, podCIDRs(node.Spec.PodCIDRs)...)
}

func podCIDRs(ranges []string) (errs field.ErrorList) {
	if len(ranges) == 0 {
		return nil
	}
	path := field.NewPath("spec", "podCIDRs")
	for i, r := range ranges {
		errs = append(errs, utilvalidation.IsValidCIDRForLegacyField(path.Index(i), r, true, nil)...)
	}
	if len(ranges) == 1 {
		return errs
	}
	both, err := netutils.IsDualStackCIDRStrings(ranges)
	if err != nil {
		errs = append(errs, field.InternalError(path, fmt.Errorf("invalid PodCIDRs. failed to check with dual stack with error:%w", err)))
	}
	if !both || len(ranges) > 2 {
		errs = append(errs, field.Invalid(path, ranges, "may specify no more than one CIDR for each IP family"))
	}
	return errs
}

// featureName is the pattern of a declared feature.
var featureName = lazyregexp.New(`^[A-Z][a-zA-Z0-9]*(/[a-zA-Z][a-zA-Z0-9]*)*$`)

func declaredFeatures(features []string) (errs field.ErrorList) {
	if len(features) == 0 {
		return nil
	}
	at := field.NewPath("status", "declaredFeatures")
	for i, feature := range features {
		const longest = 253
		switch {
		case len(feature) > longest:
			errs = append(errs, field.Invalid(at.Index(i), feature, fmt.Sprintf("invalid feature name %q: must be no more than %d characters", feature, longest)))
		case !featureName().MatchString(feature):
			errs = append(errs, field.Invalid(at.Index(i), feature, fmt.Sprintf("invalid feature name %q: must start with an UpperCamelCase segment, "+
				"with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes", feature)))
		}
		if i+1 == len(features) {
			return errs
		}
		switch next := features[i+1]; {
		case feature == next:
			errs = append(errs, field.Duplicate(at.Index(i+1), next))
		case feature > next:
			errs = append(errs, field.Invalid(at.Index(i+1), next, "list must be sorted alphabetically"))
		}
	}
	return errs
}

func nodeSwap(swap *corev1.NodeSwapStatus) field.ErrorList {
	if swap == nil || swap.Capacity == nil || *swap.Capacity > 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(metadataPath.Child("nodeSwapStatus", "capacity"), *swap.Capacity, "must be greater than zero")}
}

func nodeResources(status *corev1.NodeStatus) field.ErrorList {
	errs := nodeAmounts("capacity", status.Capacity)
	return append(errs, nodeAmounts("allocatable", status.Allocatable)...)
}

// nodeAmounts checks the capacity of a node.
func nodeAmounts(of string, list corev1.ResourceList) (errs field.ErrorList) {
	// Collected first: otherwise each heartbeat would build the paths of valid addresses.
	var wrong []corev1.ResourceName
	// In any order: the result is sorted.
	for name, quantity := range list {
		if len(resourceQuantity(nil, name, quantity)) > 0 {
			wrong = append(wrong, name)
		}
	}
	slices.Sort(wrong)
	for _, name := range wrong {
		errs = append(errs, resourceQuantity(field.NewPath("status", of, string(name)), name, list[name])...)
	}
	return errs
}

func checkNodeUpdate(now, was *corev1.Node) field.ErrorList {
	errs := append(nodeResources(&now.Status), declaredFeatures(now.Status.DeclaredFeatures)...)
	for i, address := range now.Status.Addresses {
		if slices.Contains(now.Status.Addresses[:i], address) {
			errs = append(errs, field.Duplicate(field.NewPath("status", "addresses").Index(i), goNames{address}))
		}
	}
	if len(was.Spec.PodCIDRs) > 0 && !slices.Equal(now.Spec.PodCIDRs, was.Spec.PodCIDRs) {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "podCIDRs"), `node updates may not change podCIDR except from "" to valid`))
	}
	if was.Spec.ProviderID != "" && now.Spec.ProviderID != was.Spec.ProviderID {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "providerID"), `node updates may not change providerID except from "" to valid`))
	}
	errs = append(errs, taints(now.Spec.Taints)...)
	if now.Spec.DoNotUseExternalID != was.Spec.DoNotUseExternalID {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "externalID"), "may not be updated"))
	}
	return errs
}

func taints(given []corev1.Taint) (errs field.ErrorList) {
	for i := range given {
		if given[i] == notReady && len(given) == 1 {
			continue // every new node has it
		}
		errs = append(errs, checkTaint(field.NewPath("metadata", "taints").Index(i), &given[i], given[:i])...)
	}
	return errs
}

func checkTaint(at *field.Path, taint *corev1.Taint, before []corev1.Taint) field.ErrorList {
	errs := metav1validation.ValidateLabelName(taint.Key, at.Child("key"))
	if messages := utilvalidation.IsValidLabelValue(taint.Value); len(messages) > 0 {
		errs = append(errs, field.Invalid(at.Child("value"), taint.Value, strings.Join(messages, ";")))
	}
	errs = append(errs, taintEffect(at.Child("effect"), taint.Effect)...)
	if slices.ContainsFunc(before, func(other corev1.Taint) bool { return other.MatchTaint(taint) }) {
		duplicate := field.Duplicate(at, goNames{*taint})
		duplicate.Detail = "taints must be unique by key and effect pair"
		errs = append(errs, duplicate)
	}
	return errs
}

func taintEffect(path *field.Path, effect corev1.TaintEffect) field.ErrorList {
	if effect == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	return oneOf(path, effect, corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute)
}
