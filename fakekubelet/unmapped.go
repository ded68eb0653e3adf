package fakekubelet

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
)

// errUnmapped is the error for a container of an image without an entry, if such containers are
// refused.
var errUnmapped = errors.New("no entry of images maps it, and such images are refused")

// sayRecord emits an event for a container that is a record, if other containers are programs.
func (w *podWorker) sayRecord(c *corev1.Container) {
	if w.options.Runtime.Mixed() {
		w.Event(w.pod, corev1.EventTypeNormal, "Unmapped", "Container %s is a record and runs nothing: no entry of images maps %q", c.Name, c.Image)
	}
}
