package fakekubelet

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/fakekubelet/internal/runtime"
	"github.com/csisim/csisim/internal/world/machine"
)

// runAs returns the configured user and group of the container. The container's setting takes
// precedence over the pod's.
func (c *container) runAs() (user, group *int64) {
	if pod := c.pod.Spec.SecurityContext; pod != nil {
		user, group = pod.RunAsUser, pod.RunAsGroup
	}
	if own := c.spec.SecurityContext; own != nil {
		user, group = cmp.Or(own.RunAsUser, user), cmp.Or(own.RunAsGroup, group)
	}
	return user, group
}

// verifyNonRoot returns an error for a container that must not run as root and would, or might.
func (c *container) verifyNonRoot(root *runtime.RootFS) error {
	var wanted *bool
	if pod := c.pod.Spec.SecurityContext; pod != nil {
		wanted = pod.RunAsNonRoot
	}
	if own := c.spec.SecurityContext; own != nil {
		wanted = cmp.Or(own.RunAsNonRoot, wanted)
	}
	if wanted == nil || !*wanted {
		return nil
	}
	of := fmt.Sprintf("(pod: %q, container: %s)", c.fullName(), c.spec.Name)
	if user, _ := c.runAs(); user != nil {
		if *user == 0 {
			return fmt.Errorf("container's runAsUser breaks non-root policy %s", of)
		}
		return nil
	}
	name, _, _ := strings.Cut(root.User, ":")
	id, err := strconv.ParseInt(cmp.Or(name, "0"), 10, 64)
	switch {
	case err != nil:
		return fmt.Errorf("container has runAsNonRoot and image has non-numeric user (%s), cannot verify user is non-root %s", name, of)
	case id == 0:
		return fmt.Errorf("container has runAsNonRoot and image will run as root %s", of)
	}
	return nil
}

// defaultCapabilities are containerd's capabilities of a container without a setting, except for
// MKNOD: containerd's devices control group makes that harmless.
var defaultCapabilities = []string{
	"CHOWN", "DAC_OVERRIDE", "FSETID", "FOWNER", "NET_RAW", "SETGID", "SETUID", "SETFCAP", "SETPCAP", "NET_BIND_SERVICE",
	"SYS_CHROOT", "KILL", "AUDIT_WRITE",
}

const allCapabilities = "ALL"

// capabilitiesOf returns the capabilities of a container. It first adds or drops all if the
// container names ALL, then single ones.
func capabilitiesOf(s *corev1.Capabilities) []string {
	has := slices.Clone(defaultCapabilities)
	if s == nil {
		return has
	}
	if slices.Contains(s.Add, allCapabilities) {
		has = slices.Clone(machine.Capabilities)
	}
	if slices.Contains(s.Drop, allCapabilities) {
		has = nil
	}
	for _, added := range s.Add {
		has = append(has, capabilityName(added))
	}
	return slices.DeleteFunc(has, func(name string) bool {
		return slices.ContainsFunc(s.Drop, func(dropped corev1.Capability) bool { return capabilityName(dropped) == name })
	})
}

func capabilityName(c corev1.Capability) string {
	return strings.TrimPrefix(strings.ToUpper(string(c)), "CAP_")
}
