package live

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/machine"
)

// Given a directory of the node, when a pod mounts below it, then other pods with the directory see
// the mount according to their propagation, no matter in which order the pods start. A FUSE daemon
// in its own pod serves other pods that way. All readers read after the mount is made. The file
// "mounted" in their directory signals this; it is on the node's file system, so every reader sees
// it.
func TestAMountOfAPodReachesOtherPods(t *testing.T) {
	for name, command := range map[string]string{
		"in memory": "mount -t tmpfs mine $d/mnt && echo hello > $d/mnt/file && touch $d/mounted && exec sleep 1000",
		"FUSE": "echo hello > $d/src/file; (until mountpoint -q $d/mnt; do sleep 0.05; done; touch $d/mounted) & " +
			"exec bindfs -f $d/src $d/mnt",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath("bindfs"); name == "FUSE" && (err != nil || machine.FUSERefused() != nil) {
				t.Skip("pods cannot mount with bindfs here")
			}
			c := startPrograms(t)
			reader := func(name, propagation string) {
				c.make(fmt.Sprintf(`
metadata: {name: %s}
spec:
  terminationGracePeriodSeconds: 0
  volumes: [{name: d, hostPath: {path: /var/lib/mounter, type: DirectoryOrCreate}}]
  containers:
  - name: c
    image: registry.local/shell
    args: [-c, "until test -e /seen/mounted; do sleep 0.05; done; cat /seen/mnt/file 2>&1; echo end; exec sleep 1000"]
    volumeMounts: [{name: d, mountPath: /seen, mountPropagation: %s}]
`, name, propagation), inPhase(corev1.PodRunning))
			}
			reader("before", "HostToContainer")
			reader("apart", "None")
			c.make(fmt.Sprintf(`
metadata: {name: mounter}
spec:
  terminationGracePeriodSeconds: 0
  volumes: [{name: d, hostPath: {path: /var/lib/mounter}}]
  containers:
  - name: c
    image: registry.local/shell
    args: [-c, "d=/var/lib/mounter; mkdir -p $d/mnt $d/src; %s"]
    securityContext: {privileged: true}
    volumeMounts: [{name: d, mountPath: /var/lib/mounter, mountPropagation: Bidirectional}]
`, command), inPhase(corev1.PodRunning))
			reader("after", "HostToContainer")
			for pod, want := range map[string]string{"before": "hello", "after": "hello", "apart": "No such file or directory"} {
				var log string
				require.Eventually(t, func() bool {
					log = c.log(pod, corev1.PodLogOptions{})
					return strings.HasSuffix(log, "end\n")
				}, time.Minute, 20*time.Millisecond)
				assert.Contains(t, log, want, pod)
			}
			c.down()
		})
	}
}
