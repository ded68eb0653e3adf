package fakekubelet

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"path"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/machine"
)

// makeTerminationLog creates the file for the termination message of a container's next instance.
// Each instance has its own file, and all files stay as long as the pod's directory. The name
// depends only on the instance and needs no random number. K-POD-16
func (w *podWorker) makeTerminationLog(container string) (file string, err error) {
	dir := path.Join(w.csi.PodDir(w.pod.UID), "containers", container)
	if err := w.options.Machine.MkdirAll(dir, 0o750); err != nil {
		return "", err
	}
	name := fnv.New32a()
	_, _ = fmt.Fprintf(name, "%s/%s/%d", w.pod.UID, container, w.Kernel.Elapsed())
	file = path.Join(dir, fmt.Sprintf("%08x", name.Sum32()))
	if err := w.options.Machine.WriteFile(file, nil, 0o666); err != nil {
		return "", err
	}
	return file, w.options.Machine.Chmod(file, 0o666)
}

// terminationLog mounts the file for the next instance's termination message. A container that
// mounts the node's read-only /dev has none at the default path.
func (c *container) terminationLog() (machine.Volume, error) {
	file, err := c.makeTerminationLog(c.spec.Name)
	if err != nil {
		return machine.Volume{}, err
	}
	c.program.TerminationLog = file
	at := cmp.Or(c.spec.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	return machine.Volume{Source: file, Path: at, Private: true, Optional: true}, nil
}
