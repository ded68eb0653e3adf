package live

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
)

// Programs that elect a leader distinguish themselves by their host name. Given pods with the
// default hostname, a long name, a given hostname and the node's host name, when their programs
// query the host name, then each gets the name that the kubelet of a real cluster sets.
func TestAPodHasASeparateHostName(t *testing.T) {
	c := startImages(t)
	long := strings.Repeat("x", 62) + "-" + strings.Repeat("y", 10)
	for name, pod := range map[string]struct{ spec, want string }{
		"web-0":  {"", "web-0"},
		"web-1":  {"", "web-1"},
		long:     {"", strings.Repeat("x", 62)},
		"called": {"hostname: storage, ", "storage"},
		"over":   {"hostname: storage, hostnameOverride: a.example.com, ", "a.example.com"},
		"driver": {"hostNetwork: true, ", "node-a"},
	} {
		c.make(`
metadata: {name: `+name+`}
spec: {`+pod.spec+`restartPolicy: Never, containers: [{name: c, image: "registry.local/tools:1", args: ["cat /proc/sys/kernel/hostname /etc/hostname; echo $$HOSTNAME"]}]}
`, inPhase(corev1.PodSucceeded))
		assert.Equal(t, strings.Repeat(pod.want+"\n", 3), c.log(name, corev1.PodLogOptions{}), name)
	}
	c.down()
}
