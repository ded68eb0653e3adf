package fakekubelet

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/fakekubelet/internal/runtime"
	"github.com/csisim/csisim/internal/world/kernel"
)

// errNeverPull is returned for a missing image that must not be fetched.
var errNeverPull = errors.New("is not present with pull policy of Never")

// pullLimit bounds the time to pull an image.
const pullLimit = time.Hour

// pull fetches the container's image if its policy requires it.
// [pkg/kubelet/images/image_manager.go EnsureImageExists]
func (c *container) pull(p *kernel.Process) error {
	image, r := c.spec.Image, c.options.Runtime
	present := r.Has(image)
	switch {
	case !r.Pulls(image), present && c.spec.ImagePullPolicy != corev1.PullAlways:
		if present {
			c.Event(c.pod, corev1.EventTypeNormal, "Pulled", "Container image %q already present on machine and can be accessed by the pod", image)
		}
		return nil
	case c.spec.ImagePullPolicy == corev1.PullNever:
		return fmt.Errorf("container image %q %w", image, errNeverPull)
	}
	c.Event(c.pod, corev1.EventTypeNormal, "Pulling", "Pulling image %q", image)
	began := p.Elapsed()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var root runtime.RootFS
	var err error
	switch answered := p.Fly("the image "+image, kernel.Matter{}, began+pullLimit, func() { root, err = r.Pull(ctx, image) }, cancel); {
	case !answered:
		return fmt.Errorf("failed to pull image %q: %w: %w", image, errPull, context.DeadlineExceeded)
	case err != nil:
		return fmt.Errorf("failed to pull image %q: %w: %w", image, errPull, err)
	}
	r.Keep(image, root)
	c.Event(c.pod, corev1.EventTypeNormal, "Pulled", "Successfully pulled image %q in %v", image, (p.Elapsed() - began).Round(time.Millisecond))
	return nil
}

// errPull is returned for an image that cannot be fetched.
var errPull = errors.New("failed to pull and unpack image")
