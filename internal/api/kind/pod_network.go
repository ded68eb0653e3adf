package kind

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/objectname"
)

// longestHostname is Linux's limit.
const longestHostname = 64

func hostnames(at *field.Path, spec *corev1.PodSpec) (errs field.ErrorList) {
	if name := spec.HostnameOverride; name != nil {
		at := at.Child("hostnameOverride")
		if spec.SetHostnameAsFQDN != nil && *spec.SetHostnameAsFQDN {
			errs = append(errs, field.Forbidden(at, "may not be specified when setHostnameAsFQDN is true"))
		}
		if spec.HostNetwork {
			errs = append(errs, field.Forbidden(at, "may not be specified when hostNetwork is true"))
		}
		if len(*name) > longestHostname {
			errs = append(errs, field.TooLong(at, "", longestHostname))
		}
		errs = append(errs, invalid(at, *name, utilvalidation.IsDNS1123Subdomain(*name))...)
	}
	return errs
}

// hostPorts checks that host ports equal container ports on the network of the node.
func hostPorts(at *field.Path, spec *corev1.PodSpec, template bool) (errs field.ErrorList) {
	if !spec.HostNetwork {
		return nil
	}
	for i, c := range spec.Containers {
		for j, p := range c.Ports {
			if (!template || p.HostPort != 0) && p.HostPort != p.ContainerPort {
				errs = append(errs, field.Invalid(at.Index(i).Child("ports").Index(j).Child("hostPort"), p.HostPort, "must match `containerPort` when `hostNetwork` is true"))
			}
		}
	}
	return errs
}

func hostAliases(at *field.Path, all []corev1.HostAlias) (errs field.ErrorList) {
	for i, alias := range all {
		errs = append(errs, utilvalidation.IsValidIPForLegacyField(at.Index(i).Child("ip"), alias.IP, false, nil)...)
		for j, name := range alias.Hostnames {
			errs = append(errs, subdomain(at.Index(i).Child("hostnames").Index(j), name)...)
		}
	}
	return errs
}

// Limits of the C library in containers.
const (
	mostNameservers   = 3
	mostSearches      = 32
	longestSearchList = 2048
)

func dnsConfig(at *field.Path, c *corev1.PodDNSConfig, policy corev1.DNSPolicy) (errs field.ErrorList) {
	if policy == corev1.DNSNone {
		if c == nil {
			return field.ErrorList{field.Required(at, fmt.Sprintf("must provide `dnsConfig` when `dnsPolicy` is %s", corev1.DNSNone))}
		}
		if len(c.Nameservers) == 0 {
			return field.ErrorList{field.Required(at.Child("nameservers"), fmt.Sprintf("must provide at least one DNS nameserver when `dnsPolicy` is %s", corev1.DNSNone))}
		}
	}
	if c == nil {
		return nil
	}
	if len(c.Nameservers) > mostNameservers {
		errs = append(errs, field.Invalid(at.Child("nameservers"), c.Nameservers, fmt.Sprintf("must not have more than %v nameservers", mostNameservers)))
	}
	for i, server := range c.Nameservers {
		errs = append(errs, utilvalidation.IsValidIPForLegacyField(at.Child("nameservers").Index(i), server, false, nil)...)
	}
	if len(c.Searches) > mostSearches {
		errs = append(errs, field.Invalid(at.Child("searches"), c.Searches, fmt.Sprintf("must not have more than %v search paths", mostSearches)))
	}
	if len(strings.Join(c.Searches, " ")) > longestSearchList {
		errs = append(errs, field.Invalid(at.Child("searches"), c.Searches, fmt.Sprintf("must not have more than %v characters (including spaces) in the search list", longestSearchList)))
	}
	for i, search := range c.Searches {
		if search != "." {
			search = strings.TrimSuffix(search, ".")
			errs = append(errs, invalid(at.Child("searches").Index(i), search, utilvalidation.IsDNS1123SubdomainWithUnderscore(search))...)
		}
	}
	for i, option := range c.Options {
		if option.Name == "" {
			errs = append(errs, field.Required(at.Child("options").Index(i), "must not be empty"))
		}
	}
	return errs
}

// label checks an optional name that must be a DNS label.
func label(at *field.Path, name string) field.ErrorList {
	if name == "" {
		return nil
	}
	return invalid(at, name, objectname.Label(name))
}
