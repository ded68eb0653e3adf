package kind

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/lazyregexp"
)

func podSecurityContext(at *field.Path, spec *corev1.PodSpec) field.ErrorList {
	c := spec.SecurityContext
	if c == nil {
		return nil
	}
	var errs field.ErrorList
	errs = append(errs, group(at.Child("fsGroup"), c.FSGroup)...)
	errs = append(errs, user(at.Child("runAsUser"), c.RunAsUser)...)
	errs = append(errs, group(at.Child("runAsGroup"), c.RunAsGroup)...)
	for i := range c.SupplementalGroups {
		errs = append(errs, group(at.Child("supplementalGroups").Index(i), &c.SupplementalGroups[i])...)
	}
	if spec.HostPID && spec.ShareProcessNamespace != nil && *spec.ShareProcessNamespace {
		errs = append(errs, field.Invalid(at.Child("shareProcessNamespace"), true, "ShareProcessNamespace and HostPID cannot both be enabled"))
	}
	errs = append(errs, sysctls(at.Child("sysctls"), spec)...)
	if p := c.FSGroupChangePolicy; p != nil {
		errs = append(errs, oneOf(at.Child("fsGroupChangePolicy"), *p, corev1.FSGroupChangeAlways, corev1.FSGroupChangeOnRootMismatch)...)
	}
	errs = append(errs, seccomp(at.Child("seccompProfile"), c.SeccompProfile)...)
	errs = append(errs, appArmor(at.Child("appArmorProfile"), c.AppArmorProfile)...)
	if p := c.SELinuxChangePolicy; p != nil {
		errs = append(errs, oneOf(at.Child("seLinuxChangePolicy"), *p, corev1.SELinuxChangePolicyMountOption, corev1.SELinuxChangePolicyRecursive)...)
	}
	if p := c.SupplementalGroupsPolicy; p != nil {
		errs = append(errs, oneOf(at.Child("supplementalGroupsPolicy"), *p, corev1.SupplementalGroupsPolicyMerge, corev1.SupplementalGroupsPolicyStrict)...)
	}
	return errs
}

func containerSecurity(at *field.Path, c *corev1.SecurityContext, hostUsers bool) field.ErrorList {
	if c == nil {
		return nil
	}
	errs := user(at.Child("runAsUser"), c.RunAsUser)
	errs = append(errs, group(at.Child("runAsGroup"), c.RunAsGroup)...)
	if p := c.ProcMount; p != nil {
		errs = append(errs, oneOf(at.Child("procMount"), *p, corev1.DefaultProcMount, corev1.UnmaskedProcMount)...)
		if hostUsers && *p == corev1.UnmaskedProcMount {
			errs = append(errs, field.Invalid(at.Child("procMount"), *p, "`hostUsers` must be false to use `Unmasked`"))
		}
	}
	errs = append(errs, seccomp(at.Child("seccompProfile"), c.SeccompProfile)...)
	if c.AllowPrivilegeEscalation != nil && !*c.AllowPrivilegeEscalation {
		if c.Privileged != nil && *c.Privileged {
			errs = append(errs, field.Invalid(at, goNames{c}, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"))
		}
		if c.Capabilities != nil && slices.Contains(c.Capabilities.Add, "CAP_SYS_ADMIN") {
			errs = append(errs, field.Invalid(at, goNames{c}, "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"))
		}
	}
	return append(errs, appArmor(at.Child("appArmorProfile"), c.AppArmorProfile)...)
}

func user(at *field.Path, id *int64) field.ErrorList {
	if id == nil {
		return nil
	}
	return invalid(at, *id, utilvalidation.IsValidUserID(*id))
}

func group(at *field.Path, id *int64) field.ErrorList {
	if id == nil {
		return nil
	}
	return invalid(at, *id, utilvalidation.IsValidGroupID(*id))
}

func seccomp(at *field.Path, p *corev1.SeccompProfile) field.ErrorList {
	if p == nil {
		return nil
	}
	var errs field.ErrorList
	if p.Type == "" {
		errs = append(errs, field.Required(at.Child("type"), "type is required when seccompProfile is set"))
	} else {
		errs = append(errs, oneOf(at.Child("type"), p.Type, corev1.SeccompProfileTypeLocalhost, corev1.SeccompProfileTypeRuntimeDefault, corev1.SeccompProfileTypeUnconfined)...)
	}
	file := at.Child("localhostProfile")
	switch local := p.Type == corev1.SeccompProfileTypeLocalhost; {
	case local && p.LocalhostProfile == nil:
		errs = append(errs, field.Required(file, "must be set when seccomp type is Localhost"))
	case local:
		errs = append(errs, descending(file, *p.LocalhostProfile)...)
	case p.LocalhostProfile != nil:
		errs = append(errs, field.Invalid(file, goNames{p}, "can only be set when seccomp type is Localhost"))
	}
	return errs
}

// descending checks a relative path without "..".
func descending(at *field.Path, file string) (errs field.ErrorList) {
	if strings.HasPrefix(file, "/") {
		errs = append(errs, field.Invalid(at, file, "must be a relative path"))
	}
	if climbs(file) {
		errs = append(errs, field.Invalid(at, file, "must not contain '..'"))
	}
	return errs
}

// longestProfile limits the name of an AppArmor profile, which is a path.
const longestProfile = 4095

func appArmor(at *field.Path, p *corev1.AppArmorProfile) field.ErrorList {
	if p == nil {
		return nil
	}
	var errs field.ErrorList
	file := at.Child("localhostProfile")
	switch p.Type {
	case corev1.AppArmorProfileTypeLocalhost:
		switch name := p.LocalhostProfile; {
		case name == nil:
			return field.ErrorList{field.Required(file, "must be set when AppArmor type is Localhost")}
		case strings.TrimSpace(*name) != *name:
			errs = append(errs, field.Invalid(file, *name, "must not be padded with whitespace"))
		case *name == "":
			errs = append(errs, field.Required(file, "must be set when AppArmor type is Localhost"))
		}
		if len(*p.LocalhostProfile) > longestProfile {
			errs = append(errs, field.TooLong(file, "", longestProfile))
		}
	case corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined:
		if p.LocalhostProfile != nil {
			errs = append(errs, field.Invalid(file, p.LocalhostProfile, "can only be set when AppArmor type is Localhost"))
		}
	case "":
		errs = append(errs, field.Required(at.Child("type"), "type is required when appArmorProfile is set"))
	default:
		errs = append(errs, oneOf(at.Child("type"), p.Type, corev1.AppArmorProfileTypeLocalhost, corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined)...)
	}
	return errs
}

const longestSysctl = 253

var sysctlName = lazyregexp.New(`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`)

func sysctls(at *field.Path, spec *corev1.PodSpec) (errs field.ErrorList) {
	var seen []string
	for i, s := range spec.SecurityContext.Sysctls {
		at := at.Index(i).Child("name")
		switch {
		case s.Name == "":
			errs = append(errs, field.Required(at, ""))
		case len(s.Name) > longestSysctl || !sysctlName().MatchString(s.Name):
			errs = append(errs, field.Invalid(at, s.Name, fmt.Sprintf("must have at most %d characters and match regex %s", longestSysctl, sysctlName())))
		case slices.Contains(seen, s.Name):
			errs = append(errs, field.Duplicate(at, s.Name))
		}
		switch name := strings.ReplaceAll(s.Name, "/", "."); {
		case spec.HostNetwork && strings.HasPrefix(name, "net."):
			errs = append(errs, field.Invalid(at, s.Name, "may not be specified when 'hostNetwork' is true"))
		case spec.HostIPC && (strings.HasPrefix(name, "kernel.shm") || strings.HasPrefix(name, "kernel.msg") || strings.HasPrefix(name, "fs.mqueue.") || name == "kernel.sem"):
			errs = append(errs, field.Invalid(at, s.Name, "may not be specified when 'hostIPC' is true"))
		}
		seen = append(seen, s.Name)
	}
	return errs
}
