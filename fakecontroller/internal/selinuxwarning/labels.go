package selinuxwarning

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/volume"
)

// mountedVolumes returns the names of the volumes that containers mount. Block devices have no
// labels.
func mountedVolumes(pod *corev1.Pod) (names []string) {
	for _, c := range volume.MountsOf(pod) {
		for _, m := range c.Mounts {
			names = append(names, m.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// labelOf returns a label with the given parts. The other parts stay empty, because the controller
// does not have the defaults of the nodes.
func labelOf(o *corev1.SELinuxOptions) string {
	if *o == (corev1.SELinuxOptions{}) {
		return ""
	}
	return strings.Join([]string{o.User, o.Role, o.Type, o.Level}, ":")
}

// differ reports whether labels cannot be the same on a node. User, role and type have defaults on
// the node, so an empty part matches any value. The level has no default.
func differ(a, b string) bool {
	x, y := parts(a), parts(b)
	for i := range 3 {
		if x[i] != y[i] && x[i] != "" && y[i] != "" {
			return true
		}
	}
	return x[3] != y[3]
}

func parts(label string) (four [4]string) {
	copy(four[:], strings.SplitN(label, ":", 4))
	return four
}
