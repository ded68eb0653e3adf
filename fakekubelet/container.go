package fakekubelet

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/fakekubelet/internal/runtime"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/workload"
)

// container is a container that starts and ends independently of the others of its pod. A container
// of an image without a program is a record. It runs until it is stopped, or for the time that its
// pod specifies.
type container struct {
	*podWorker
	spec    *corev1.Container
	program *runtime.Program
	process *kernel.Process
	loop    crashLoop
	init    bool
	// It is an init container that runs beside the pod's containers.
	sidecar bool
	// It is ephemeral: it runs once, and the pod does not depend on it.
	debug   bool
	waiting *corev1.ContainerStateWaiting // the reason why it does not run yet
	ended   bool                          // it will not run any more
	// The running instance must be replaced by one with other resources.
	renew bool

	liveness, readiness, startup *prober // nil without such a probe
	// The failed probe for which the kubelet must end the running instance; nil for none.
	unhealthy *prober
}

func (w *podWorker) newContainer(spec *corev1.Container, init bool) *container {
	c := &container{podWorker: w, spec: spec, init: init, sidecar: init && workload.Sidecar(spec), waiting: w.notStarted()}
	c.program = w.options.Runtime.Program(w.pod, spec)
	if c.program.Now != nil && !w.fresh {
		c.waiting = nil // an earlier kubelet started it
	}
	c.liveness = c.newProber(liveness, spec.LivenessProbe)
	c.readiness = c.newProber(readiness, spec.ReadinessProbe)
	c.startup = c.newProber(startup, spec.StartupProbe)
	return c
}

func (c *container) running() bool { return c.program.Running() }

// start runs the container as a process of the kernel.
func (c *container) start() {
	c.process = c.Go("container "+c.pod.Namespace+"/"+c.pod.Name+"/"+c.spec.Name, c.run)
	c.program.OnChange(c.process.Wake)
	c.probe()
}

// run starts the container, waits for its end, and restarts it according to the pod's policy. A
// container that runs when the kubelet starts continues to run.
func (c *container) run(p *kernel.Process) {
	if !c.fresh {
		c.noticeEnd(p)
	}
	if !c.endedBefore() {
		c.runInstances(p)
	}
	c.ended = true
	c.wakeContainers()
	c.report(p)
	c.podWorker.process.Wake()
}

func (c *container) runInstances(p *kernel.Process) {
	for !c.over() {
		if !c.running() && (!c.awaitRestart(p) || !c.launch(p)) {
			continue
		}
		c.waiting = nil
		c.report(p)
		c.askReadiness()
		p.Wait("the end of container "+c.spec.Name, func() bool { return !c.running() || c.over() || c.unhealthy != nil || c.renew })
		c.noticeEnd(p)
		again := c.restarts()
		if c.renew {
			again = true
			c.endForResize(p)
		}
		if c.unhealthy != nil {
			again = restartPolicyOf(c.spec, &c.pod.Spec) != corev1.RestartPolicyNever
			c.endUnhealthy(p)
		}
		if !again {
			break
		}
	}
	c.stop(p)
}

// launch starts the container. If its preparation fails, the container is tried again later.
func (c *container) launch(p *kernel.Process) bool {
	start, err := c.prepare(p)
	if err != nil {
		c.failLaunch(p, err)
		return false
	}
	if c.over() {
		return false
	}
	c.Event(c.pod, corev1.EventTypeNormal, "Created", "Container created")
	start()
	if c.program.Running() {
		c.Event(c.pod, corev1.EventTypeNormal, "Started", "Container started")
		c.postStart(p)
	} else {
		c.Event(c.pod, corev1.EventTypeWarning, "Failed", "Error: %s", c.program.Now.Message)
	}
	return true
}

// prepare sets up the container and returns the function that starts it.
func (c *container) prepare(p *kernel.Process) (start func(), err error) {
	if c.program.IsRecord() {
		mounts, err := c.recordMounts(p)
		return func() { c.startRecord(mounts) }, err
	}
	if err := c.pull(p); err != nil || c.over() {
		return nil, err
	}
	command, err := c.command(p)
	return func() { c.program.Start(command) }, err
}

// failLaunch reports why the container could not be started, and waits for the next try.
func (c *container) failLaunch(p *kernel.Process, err error) {
	reason := "CreateContainerConfigError"
	switch {
	case errors.Is(err, errNoCommand):
		reason = "CreateContainerError"
	case errors.Is(err, errUnmapped), errors.Is(err, errPull):
		reason = "ErrImagePull"
	case errors.Is(err, errNeverPull):
		reason = "ErrImageNeverPull"
	}
	c.waiting = &corev1.ContainerStateWaiting{Reason: reason, Message: err.Error()}
	c.Event(c.pod, corev1.EventTypeWarning, "Failed", "Error: %v", err)
	c.report(p)
	next := p.Elapsed() + syncRetry + c.chance(syncRetryMore)
	p.WaitUntil("the next try to start container "+c.spec.Name, next, c.over)
}

// restarts reports whether the container runs again after its last instance has ended.
func (c *container) restarts() bool {
	return !c.debug && restartsAfter(c.spec, &c.pod.Spec, c.init, c.program.Now.Code)
}

// endedBefore reports whether an earlier kubelet has observed the container's final end.
func (c *container) endedBefore() bool {
	if c.program.Now == nil || c.running() {
		return false
	}
	if c.fresh {
		return c.doneBefore()
	}
	return !c.restarts()
}

// awaitRestart waits until the container may run again; false if the pod ends first.
func (c *container) awaitRestart(p *kernel.Process) bool {
	if c.program.Now == nil {
		return true
	}
	ended := p.Elapsed() - c.Kernel.Now().Sub(c.program.Now.Finished)
	if delay := c.loop.wait(ended); delay > 0 {
		c.waiting = &corev1.ContainerStateWaiting{
			Reason:  "CrashLoopBackOff",
			Message: "back-off " + delay.String() + " restarting failed container=" + c.spec.Name + " pod=" + c.fullName(),
		}
		c.Event(c.pod, corev1.EventTypeWarning, "BackOff", "Back-off restarting failed container %s in pod %s", c.spec.Name, c.fullName())
		c.report(p)
		if p.WaitUntil("the end of its back-off", ended+delay, c.over) {
			return false
		}
	}
	c.loop.next(p.Elapsed(), ended)
	return true
}

func (c *container) fullName() string {
	return c.pod.Name + "_" + c.pod.Namespace + "(" + string(c.pod.UID) + ")"
}

// stop ends the program for good.
func (c *container) stop(p *kernel.Process) {
	if !c.running() {
		return
	}
	c.Event(c.pod, corev1.EventTypeNormal, "Killing", "Stopping container %s", c.spec.Name)
	c.end(p, c.awaitTurn(p, c.preStop(p, c.grace())))
}

// endUnhealthy ends a program that failed a probe, unless it has already exited.
func (c *container) endUnhealthy(p *kernel.Process) {
	by := c.unhealthy
	c.unhealthy = nil
	if !c.running() {
		return
	}
	why := "Container %s failed %s, will be restarted"
	if c.sidecar {
		why = "Init container %s failed %s"
	}
	c.Event(c.pod, corev1.EventTypeNormal, "Killing", why, c.spec.Name, by.name())
	grace := c.grace()
	if seconds := by.spec.TerminationGracePeriodSeconds; seconds != nil {
		grace = time.Duration(*seconds) * time.Second
	}
	c.end(p, c.preStop(p, grace))
}

// endForResize ends a program that has to restart with other resources, unless it has already
// exited.
func (c *container) endForResize(p *kernel.Process) {
	c.renew = false
	if c.running() {
		c.Event(c.pod, corev1.EventTypeNormal, "Killing", "Container %s resize requires restart", c.spec.Name)
		c.end(p, c.preStop(p, c.grace()))
	}
}

// end ends the program with SIGTERM and, after its grace period, with SIGKILL.
func (c *container) end(p *kernel.Process, grace time.Duration) {
	c.program.Signal(syscall.SIGTERM)
	gone := func() bool { return !c.running() }
	if !p.WaitUntil("the end of container "+c.spec.Name, p.Elapsed()+grace, gone) {
		c.program.Kill()
		p.Wait("the end of container "+c.spec.Name, gone)
	}
}

// leastGrace is the time that a program has for its end even if no grace period is left.
const leastGrace = 2 * time.Second

// grace bounds the time that the containers of the pod may take to end.
func (w *podWorker) grace() time.Duration {
	seconds := int64(30)
	switch {
	case w.evicted != nil && w.evicted.grace != nil:
		return max(*w.evicted.grace, leastGrace)
	case w.pod.DeletionGracePeriodSeconds != nil:
		seconds = *w.pod.DeletionGracePeriodSeconds
	case w.pod.Spec.TerminationGracePeriodSeconds != nil:
		seconds = *w.pod.Spec.TerminationGracePeriodSeconds
	}
	return max(time.Duration(seconds)*time.Second, leastGrace)
}

// command returns the command of the program. The image's program replaces the first word of the
// container's command, unless the machine has a program with that name.
func (c *container) command(p *kernel.Process) (machine.Command, error) {
	if !c.options.Runtime.Has(c.spec.Image) {
		return machine.Command{}, fmt.Errorf("failed to pull image %q: %w", c.spec.Image, errUnmapped)
	}
	vars, err := c.environment(p, c.spec)
	if err != nil {
		return machine.Command{}, err
	}
	command, err := c.commandOf(vars)
	if err != nil {
		return machine.Command{}, err
	}
	volumes, err := c.mountsOfProgram(p, c.spec)
	command.Volumes, command.OwnKubeletDir = append(command.Volumes, volumes...), command.Root == nil
	if err == nil && command.Root == nil && c.options.ClusterDNS != "" {
		var resolv machine.Volume
		resolv, err = c.showResolvConf()
		command.Volumes = append(command.Volumes, resolv)
	}
	command.Hostname, command.Limits = c.hostname(), limitsOf(c.sizes[c.spec.Name])
	command.Bare, command.Stdin, command.StdinOnce, command.Terminal = true, c.spec.Stdin, c.spec.StdinOnce, c.spec.TTY
	return command, err
}

// commandOf returns the command of the image, with its environment.
func (c *container) commandOf(vars variables) (machine.Command, error) {
	if root := c.options.Runtime.RootFS(c.spec.Image); root != nil {
		return c.rootCommand(root, vars)
	}
	vars.setDefault("HOME", "/root")
	env := vars.list()
	words := append([]string{c.options.Runtime.Executable(c.spec.Image)}, expandAll(c.spec.Args, vars)...)
	if given := expandAll(c.spec.Command, vars); len(given) > 0 {
		if program := c.options.Runtime.Found(given[0], env); program != "" {
			words[0] = program
		}
		words = append(words[:1:1], append(given[1:], words[1:]...)...)
	}
	return machine.Command{Path: words[0], Args: words[1:], Env: env, Dir: workingDir(c.spec)}, nil
}

func workingDir(spec *corev1.Container) string {
	if spec.WorkingDir != "" {
		return spec.WorkingDir
	}
	return "/"
}
