package volume

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/store"
)

// WithFiles finds a pod's volume by its name in the pod, if the volume's files are accessible on
// the pod's node. It returns the kubelet's name of the volume. It returns an error if there is no
// such volume, or if file is not the name of a file in its root.
func WithFiles(s *store.Store, key store.Key, volumeName, file string) (pod *corev1.Pod, specName string, err error) {
	if strings.Contains(file, "/") || file == "" || file == "." || file == ".." {
		return nil, "", fmt.Errorf("%q is no name of a file in its root", file)
	}
	pod, ok := store.Get[*corev1.Pod](s, key)
	if !ok {
		return nil, "", errors.New("there is no such pod")
	}
	v, ok := namedOf(s, pod, volumeName)
	switch {
	case !ok:
		return nil, "", errors.New("the pod has no such volume of a driver, or its claim has no volume yet")
	case v.Block:
		return nil, "", errors.New("a block device has no files")
	case pod.Spec.NodeName == "":
		return nil, "", errors.New("the pod is on no node yet")
	}
	return pod, v.Name, nil
}
