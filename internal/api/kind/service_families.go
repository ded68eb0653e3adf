package kind

import (
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var (
	addressesPath = field.NewPath("spec", "clusterIPs")
	familiesPath  = field.NewPath("spec", "ipFamilies")
	policyPath    = field.NewPath("spec", "ipFamilyPolicy")
)

// pairAddresses fills the list of addresses for clients that set only the single address.
func pairAddresses(spec *corev1.ServiceSpec, old *corev1.Service) {
	if old == nil {
		if spec.ClusterIP != "" && len(spec.ClusterIPs) == 0 {
			spec.ClusterIPs = []string{spec.ClusterIP}
		}
		return
	}
	was := &old.Spec
	if len(spec.ClusterIPs) == 0 && spec.ClusterIP == was.ClusterIP {
		spec.ClusterIPs = was.ClusterIPs
	}
	if spec.ClusterIP == was.ClusterIP || !slices.Equal(spec.ClusterIPs, was.ClusterIPs) {
		return
	}
	if spec.ClusterIPs = nil; spec.ClusterIP != "" || was.ClusterIP == "" {
		spec.ClusterIPs = []string{spec.ClusterIP}
	}
}

// settleFamilies sets the address families of a service, in a cluster with IPv4.
func settleFamilies(service, old *corev1.Service) error {
	spec := &service.Spec
	if spec.Type == corev1.ServiceTypeExternalName || old != nil && prefersDualStackAsBefore(spec, &old.Spec) {
		return nil
	}
	selectsNothing := spec.ClusterIP == corev1.ClusterIPNone && len(spec.Selector) == 0
	switch {
	case spec.IPFamilyPolicy != nil:
	case old != nil && old.Spec.IPFamilyPolicy != nil:
		spec.IPFamilyPolicy = old.Spec.IPFamilyPolicy
	case selectsNothing:
		setDefault(&spec.IPFamilyPolicy, corev1.IPFamilyPolicyRequireDualStack)
	default:
		setDefault(&spec.IPFamilyPolicy, corev1.IPFamilyPolicySingleStack)
	}
	errs := serviceAddresses(service, old)
	if len(errs) == 0 {
		errs = followAddresses(spec, old)
	}
	if len(errs) == 0 && !selectsNothing {
		errs = unserved(spec)
	}
	if len(errs) > 0 {
		return invalidService(service, errs...)
	}
	if len(spec.IPFamilies) == 0 {
		spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol}
	}
	if selectsNothing && len(spec.IPFamilies) == 1 && *spec.IPFamilyPolicy != corev1.IPFamilyPolicySingleStack {
		other := map[corev1.IPFamily]corev1.IPFamily{corev1.IPv4Protocol: corev1.IPv6Protocol, corev1.IPv6Protocol: corev1.IPv4Protocol}
		spec.IPFamilies = append(slices.Clip(spec.IPFamilies), other[spec.IPFamilies[0]])
	}
	return nil
}

// prefersDualStackAsBefore reports whether a service with policy PreferDualStack has not changed
// its families.
func prefersDualStackAsBefore(spec, old *corev1.ServiceSpec) bool {
	prefers := func(policy *corev1.IPFamilyPolicy) bool {
		return policy != nil && *policy == corev1.IPFamilyPolicyPreferDualStack
	}
	return spec.Type == old.Type && (hasNodePorts(spec) || spec.Type == corev1.ServiceTypeClusterIP) &&
		prefers(spec.IPFamilyPolicy) && (old.IPFamilyPolicy == nil || prefers(old.IPFamilyPolicy)) &&
		slices.Equal(spec.ClusterIPs, old.ClusterIPs) && slices.Equal(spec.IPFamilies, old.IPFamilies)
}

// followAddresses makes policy, addresses and families of a service agree.
func followAddresses(spec *corev1.ServiceSpec, old *corev1.Service) (errs field.ErrorList) {
	single := *spec.IPFamilyPolicy == corev1.IPFamilyPolicySingleStack
	wrongPolicy := func(rule string) { errs = append(errs, field.Invalid(policyPath, spec.IPFamilyPolicy, rule)) }
	if old != nil && single {
		if slices.Equal(spec.ClusterIPs, old.Spec.ClusterIPs) {
			spec.ClusterIPs = spec.ClusterIPs[:min(1, len(spec.ClusterIPs))]
		}
		if slices.Equal(spec.IPFamilies, old.Spec.IPFamilies) {
			spec.IPFamilies = spec.IPFamilies[:min(1, len(spec.IPFamilies))]
		}
	}
	if old != nil && !single {
		if n := len(spec.ClusterIPs); n > 0 && n < len(old.Spec.ClusterIPs) {
			wrongPolicy("must be 'SingleStack' to release the secondary cluster IP")
		}
		if n := len(spec.IPFamilies); n > 0 && n < len(old.Spec.IPFamilies) {
			wrongPolicy("must be 'SingleStack' to release the secondary IP family")
		}
	}
	if single && len(spec.ClusterIPs) == 2 {
		wrongPolicy("must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified")
	}
	if single && len(spec.IPFamilies) == 2 {
		wrongPolicy("must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified")
	}
	for i, address := range spec.ClusterIPs {
		switch {
		case address == corev1.ClusterIPNone:
			return errs
		case i < len(spec.IPFamilies):
		case isIPv6(address):
			errs = append(errs, field.Invalid(addressesPath.Index(i), spec.ClusterIPs, "IPv6 is not configured on this cluster"))
		default:
			spec.IPFamilies = append(slices.Clip(spec.IPFamilies), corev1.IPv4Protocol)
		}
	}
	return errs
}

// unserved returns the field errors for families that the cluster lacks.
func unserved(spec *corev1.ServiceSpec) (errs field.ErrorList) {
	if *spec.IPFamilyPolicy == corev1.IPFamilyPolicyRequireDualStack {
		errs = append(errs, field.Invalid(policyPath, spec.IPFamilyPolicy, "this cluster is not configured for dual-stack services"))
	}
	for i, family := range spec.IPFamilies {
		if family != corev1.IPv4Protocol {
			errs = append(errs, field.Invalid(familiesPath.Index(i), family, "not configured on this cluster"))
		}
	}
	return errs
}

func isIPv6(address string) bool {
	ip, err := netip.ParseAddr(address)
	return err == nil && ip.Is6() && !ip.Is4In6()
}

// serviceAddresses compares addresses with families. old is the replaced service, nil for a new
// one.
func serviceAddresses(service, old *corev1.Service) (errs field.ErrorList) {
	spec := &service.Spec
	if spec.Type == corev1.ServiceTypeExternalName {
		return nil
	}
	switch {
	case spec.ClusterIP == "" && len(spec.ClusterIPs) > 0:
		errs = append(errs, field.Invalid(addressesPath, spec.ClusterIPs, "must be empty when `clusterIP` is not specified"))
	case spec.ClusterIP != "" && len(spec.ClusterIPs) == 0:
		errs = append(errs, field.Required(addressesPath, ""))
	case spec.ClusterIP != "" && spec.ClusterIPs[0] != spec.ClusterIP:
		errs = append(errs, field.Invalid(addressesPath, spec.ClusterIPs, "first value must match `clusterIP`"))
	}
	seen := sets.Set[corev1.IPFamily]{}
	for i, family := range spec.IPFamilies {
		errs = append(errs, oneOf(familiesPath.Index(i), family, corev1.IPv4Protocol, corev1.IPv6Protocol)...)
		if seen.Has(family) {
			errs = append(errs, field.Duplicate(familiesPath.Index(i), family))
		}
		seen.Insert(family)
	}
	if policy := spec.IPFamilyPolicy; policy != nil {
		errs = append(errs, oneOf(policyPath, *policy, corev1.IPFamilyPolicyPreferDualStack, corev1.IPFamilyPolicyRequireDualStack, corev1.IPFamilyPolicySingleStack)...)
	}
	wrong := listedAddresses(spec, old)
	errs = append(errs, wrong...)
	if len(spec.ClusterIPs) > 2 {
		errs = append(errs, field.Invalid(addressesPath, spec.ClusterIPs, "may only hold up to 2 values"))
	}
	if len(wrong) > 0 {
		return errs
	}
	return append(errs, addressesOfFamilies(spec)...)
}

func listedAddresses(spec *corev1.ServiceSpec, old *corev1.Service) (errs field.ErrorList) {
	var before []string
	if old != nil {
		before = old.Spec.ClusterIPs
	}
	for i, address := range spec.ClusterIPs {
		if i > 0 || address != corev1.ClusterIPNone {
			errs = append(errs, utilvalidation.IsValidIPForLegacyField(addressesPath.Index(i), address, true, before)...)
		} else if len(spec.ClusterIPs) > 1 {
			errs = append(errs, field.Invalid(addressesPath, spec.ClusterIPs, "'None' must be the first and only value"))
		}
	}
	return errs
}

// addressesOfFamilies checks that valid addresses belong to the service's families.
func addressesOfFamilies(spec *corev1.ServiceSpec) (errs field.ErrorList) {
	if n := len(spec.ClusterIPs); n > 1 && !slices.ContainsFunc(spec.ClusterIPs, func(a string) bool { return isIPv6(a) != isIPv6(spec.ClusterIPs[0]) }) {
		errs = append(errs, field.Invalid(addressesPath, spec.ClusterIPs, "may specify no more than one IP for each IP family"))
	}
	if isHeadless(spec) {
		return errs
	}
	for i, address := range spec.ClusterIPs[:min(len(spec.ClusterIPs), len(spec.IPFamilies))] {
		family := spec.IPFamilies[i]
		if family == corev1.IPv4Protocol && isIPv6(address) || family == corev1.IPv6Protocol && !isIPv6(address) {
			errs = append(errs, field.Invalid(addressesPath.Index(i), address, fmt.Sprintf("expected an %s value as indicated by `ipFamilies[%d]`", family, i)))
		}
	}
	return errs
}
