package realcluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/internal/world/volume"
	"github.com/csisim/csisim/sim"
)

// glance is the interval of polls for a state that emits no events.
const glance = 20 * time.Millisecond

// WaitFor waits until cond holds, at most for limit.
func (c *Cluster) WaitFor(what string, limit time.Duration, cond func() bool) error {
	tick := time.NewTicker(glance)
	defer tick.Stop()
	for end := time.Now().Add(limit); ; {
		c.pump()
		if cond() {
			return nil
		}
		if time.Now().After(end) {
			return &sim.StuckError{What: what, Reason: kernel.Deadline, After: limit}
		}
		select {
		case <-c.ctx.Done():
			return context.Cause(c.ctx)
		case <-c.queue.news:
		case <-tick.C:
		}
	}
}

// Advance waits for d.
func (c *Cluster) Advance(d time.Duration) error {
	end := time.Now().Add(d)
	return c.WaitFor(fmt.Sprintf("%v to pass", d), d+time.Minute, func() bool { return !time.Now().Before(end) })
}

// calm is the time for which a cluster must be quiet to count as settled.
const calm = 3 * time.Second

// Settle waits until the cluster is quiet and nothing is pending: no call is in progress, no object
// is being deleted, and each node with an attached volume has a pod with a claim. Probes of the
// driver do not count: they never end.
func (c *Cluster) Settle(limit time.Duration) error {
	last, at := c.world.Trace.Last(), time.Now()
	return c.WaitFor("the cluster to settle", limit, func() bool {
		if c.newsSince(last) || c.busy() {
			at = time.Now()
		}
		last = c.world.Trace.Last()
		return time.Since(at) >= calm
	})
}

// newsSince reports whether anything but probes has happened after an event.
func (c *Cluster) newsSince(seq uint64) bool {
	for _, e := range slices.Backward(c.world.Trace.Events()) {
		if e.Seq <= seq {
			return false
		}
		if !isProbe(e) {
			return true
		}
	}
	return false
}

func isProbe(e *trace.Event) bool { return e.Kind == trace.Call && e.Method == "Identity/Probe" }

func (c *Cluster) busy() bool {
	for _, call := range c.calls.open {
		if !isProbe(call) {
			return true
		}
	}
	s := c.world.Store
	used := map[string]bool{} // nodes with pods that have claims; a driver's own pods have none
	for pod := range store.List[*corev1.Pod](s, "") {
		if pod.DeletionTimestamp != nil && !c.dark[pod.Spec.NodeName] {
			return true
		}
		used[pod.Spec.NodeName] = used[pod.Spec.NodeName] || hasClaim(pod)
	}
	for claim := range store.List[*corev1.PersistentVolumeClaim](s, "") {
		if claim.DeletionTimestamp != nil {
			return true
		}
	}
	for node := range store.List[*corev1.Node](s, "") {
		if len(node.Status.VolumesInUse) > 0 && !used[node.Name] && !c.dark[node.Name] {
			return true
		}
	}
	for va := range store.List[*storagev1.VolumeAttachment](s, "") {
		if va.DeletionTimestamp != nil || !used[va.Spec.NodeName] && !c.dark[va.Spec.NodeName] {
			return true
		}
	}
	for pv := range store.List[*corev1.PersistentVolume](s, "") {
		if pv.DeletionTimestamp != nil || pv.Status.Phase == corev1.VolumeReleased && pv.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete && pv.Annotations["pv.kubernetes.io/provisioned-by"] != "" {
			return true
		}
	}
	return false
}

func hasClaim(pod *corev1.Pod) bool {
	for i := range pod.Spec.Volumes {
		if _, _, ok := volume.ClaimOf(pod, &pod.Spec.Volumes[i]); ok {
			return true
		}
	}
	return false
}

// bootTime limits the start of drivers, with images that are loaded.
const bootTime = 3 * time.Minute

// Boot waits until all nodes are Ready and all drivers registered on them.
func (c *Cluster) Boot() error {
	var missing string
	var pull error
	looked := time.Now()
	err := c.WaitFor("nodes Ready and drivers registered", bootTime, func() bool {
		if time.Since(looked) > time.Second {
			looked, pull = time.Now(), c.cannotPull()
		}
		missing = c.missing()
		return missing == "" || pull != nil
	})
	if pull != nil {
		return &sim.EnvironmentError{Doing: "start the pods of the drivers", Err: pull}
	}
	if err != nil && missing != "" {
		return &sim.EnvironmentError{Doing: "wait for " + missing, Err: errors.New(strings.Join(append([]string{err.Error()}, c.troubles()...), "\n"))}
	}
	if err != nil {
		return err
	}
	if err := c.lookAtFirst(); err != nil {
		return err
	}
	c.followRuntimes()
	return c.calls.catchUp() // earlier calls are not part of the run
}

func (c *Cluster) missing() string {
	for _, name := range c.options.Nodes {
		node, ok := store.Get[*corev1.Node](c.world.Store, store.Key{Name: name})
		if !ok || !isReady(node) {
			return "node " + name + " to be Ready"
		}
		for _, d := range c.options.Drivers {
			if c.later[d.Name] || c.evicted[c.evictable(sim.Plugin{Driver: d.Name, Node: name})] {
				continue
			}
			if d.HasNode() && (d.Own == nil || d.Own.OnEveryNode()) && !c.IsInstalled(d.Name, name) {
				return fmt.Sprintf("driver %s to be registered on %s", d.Name, name)
			}
		}
	}
	for _, d := range c.options.Drivers {
		if c.later[d.Name] {
			continue
		}
		if there, err := c.proxies(c.ctx, d.Name, "controller", ""); d.HasController() && (err != nil || len(there) == 0) {
			return fmt.Sprintf("the controller plugin of %s to run", d.Name)
		}
		if d.HasNode() && len(c.DriverNodes(d.Name)) == 0 && len(d.Down) == 0 {
			return fmt.Sprintf("driver %s to be registered on a node", d.Name)
		}
	}
	if err := c.calls.readNew(); err != nil {
		return "the pods of the drivers to be listed: " + err.Error()
	}
	for _, d := range c.options.Drivers {
		// A driver can be registered before the API shows that its pod runs.
		for _, node := range c.DriverNodes(d.Name) {
			if p := (sim.Plugin{Driver: d.Name, Node: node}); !c.evicted[p] && !c.calls.reads(deploy.Slug(c.inCluster(d.Name)), node) {
				return fmt.Sprintf("the pod of the %s to run", p)
			}
		}
	}
	return ""
}

func isReady(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// EachInstant never calls look, because only virtual time has instants.
func (*Cluster) EachInstant(func()) {}

// IsInstalled reports whether a node's CSINode has a driver.
func (c *Cluster) IsInstalled(driver, node string) bool {
	return c.registered(driver, node) != nil
}

// registered returns a driver's entry in the CSINode of a node; nil if there is none.
func (c *Cluster) registered(driver, node string) *storagev1.CSINodeDriver {
	info, _ := store.Get[*storagev1.CSINode](c.world.Store, store.Key{Name: node})
	if info == nil {
		return nil
	}
	for i := range info.Spec.Drivers {
		if info.Spec.Drivers[i].Name == c.options.Deploy.Scope.Plain(driver) {
			return &info.Spec.Drivers[i]
		}
	}
	return nil
}

// hopeless are the waiting reasons of containers with an image that cannot be pulled.
var hopeless = []string{"ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName"}

// cannotPull returns an error if a container's image cannot be pulled.
func (c *Cluster) cannotPull() error {
	pods, err := c.clients.CoreV1().Pods(metav1.NamespaceAll).List(c.ctx, c.podsOfRun(""))
	if err != nil {
		return nil // missing returns the error of the list
	}
	for _, p := range pods.Items {
		for _, s := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
			if s.State.Waiting != nil && slices.Contains(hopeless, s.State.Waiting.Reason) {
				return fmt.Errorf("node %s does not get image %s: %s %s. Have it on this machine's engine, or name another with --sidecar-image", p.Spec.NodeName, s.Image, s.State.Waiting.Reason, s.State.Waiting.Message)
			}
		}
	}
	return nil
}

// troubles returns the reasons why the pods of the drivers wait, one per line.
func (c *Cluster) troubles() (lines []string) {
	pods, err := c.clients.CoreV1().Pods(metav1.NamespaceAll).List(c.ctx, c.podsOfRun(""))
	if err != nil {
		return []string{err.Error()}
	}
	for _, p := range pods.Items {
		for _, s := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
			switch done := s.State.Terminated != nil && s.State.Terminated.ExitCode == 0; {
			// It has ended as expected.
			case done && slices.ContainsFunc(p.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == s.Name }):
			case s.State.Waiting != nil:
				lines = append(lines, fmt.Sprintf("pod %s, container %s: %s %s", p.Name, s.Name, s.State.Waiting.Reason, s.State.Waiting.Message))
			case s.State.Terminated != nil:
				lines = append(lines, fmt.Sprintf("pod %s, container %s: %s, exit code %d", p.Name, s.Name, s.State.Terminated.Reason, s.State.Terminated.ExitCode))
			}
		}
	}
	return append(lines, c.elsewhere()...)
}

// elsewhere returns the drivers that are registered only on nodes outside the scenario, one per
// line.
func (c *Cluster) elsewhere() (lines []string) {
	infos, err := c.clients.StorageV1().CSINodes().List(c.ctx, metav1.ListOptions{})
	if err != nil {
		return []string{err.Error()}
	}
	for _, d := range c.options.Drivers {
		var on []string
		for _, info := range infos.Items {
			if slices.ContainsFunc(info.Spec.Drivers, func(there storagev1.CSINodeDriver) bool { return there.Name == d.Name }) {
				on = append(on, info.Name)
			}
		}
		if len(on) > 0 && !slices.ContainsFunc(on, func(node string) bool { return slices.Contains(c.options.Nodes, node) }) {
			lines = append(lines, fmt.Sprintf("driver %s is registered on %s, which the scenario does not have: its nodes are %s",
				d.Name, strings.Join(on, ", "), strings.Join(c.options.Nodes, ", ")))
		}
	}
	return lines
}
