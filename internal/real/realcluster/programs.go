package realcluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/fakekubelet"
	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/internal/world/workload"
	"github.com/csisim/csisim/sim"
)

// ErrNotReal is returned for operations that a real cluster does not support yet. A plan reports
// them before a run.
var ErrNotReal = errors.New("this cannot be done on a real cluster")

// Kill ends a program like SIGKILL.
func (c *Cluster) Kill(component sim.Component) error {
	switch p := component.(type) {
	case sim.Kubelet:
		if _, err := c.run(string(p), "systemctl", "kill", "--signal=SIGKILL", "kubelet"); err != nil {
			return err
		}
		c.transition(string(p), trace.Kubelet, "kubelet", trace.Killed)
		return c.stopKubelet(string(p)) // systemd would start it again
	case sim.Plugin:
		return c.order(p, "/driver/kill")
	case sim.PluginRegistrar:
		return c.orderRegistrar(p, "/driver/kill")
	case sim.Controller:
		err := c.killController(string(p))
		if err == nil {
			c.transition("", trace.Controller, string(p), trace.Killed)
		}
		return err
	}
	return fmt.Errorf("kill %s: %w", component, ErrNotReal)
}

// Stop ends a program like SIGTERM.
func (c *Cluster) Stop(component sim.Component) error {
	switch p := component.(type) {
	case sim.Plugin:
		switch {
		case p.Node == "" || p.Alone:
			return c.order(p, "/driver/stop")
		case c.driver(p.Driver).Own != nil:
			return c.deletePods(p)
		}
		return c.evict(p)
	case sim.PluginRegistrar:
		return c.orderRegistrar(p, "/driver/stop")
	}
	return fmt.Errorf("stop %s: %w", component, ErrNotReal)
}

// Start starts a program that was killed or stopped.
func (c *Cluster) Start(component sim.Component) error {
	switch p := component.(type) {
	case sim.Kubelet:
		return c.startKubelet(string(p))
	case sim.Plugin:
		switch {
		case c.evicted[c.evictable(p)]:
			return c.readmit(p)
		case c.driver(p.Driver).Own != nil:
			return c.awaitStarted(p)
		}
		err := c.order(p, "/driver/start")
		// The registrar in its pod starts together with it.
		if err == nil && p.Node != "" && c.driver(p.Driver).Keeper != nil {
			err = c.orderRegistrar(sim.PluginRegistrar{Driver: p.Driver, Node: p.Node}, "/driver/start")
		}
		return err
	case sim.PluginRegistrar:
		return c.orderRegistrar(p, "/driver/start")
	case sim.Controller:
		return c.startController(string(p))
	}
	return fmt.Errorf("start %s: %w", component, ErrNotReal)
}

// order sends an order to the proxies of a plugin. On a booting node, the proxies are reachable
// only after their pod has its network again.
func (c *Cluster) order(p sim.Plugin, path string) error {
	return c.reached(p, func() error { return c.orderAtOnce(p, path) })
}

// reached repeats a request until the program can be reached.
func (c *Cluster) reached(p sim.Component, ask func() error) (err error) {
	waiting := c.WaitFor(fmt.Sprintf("the %s to be reached", p), podTime, func() bool {
		err = ask()
		return !apierrors.IsServiceUnavailable(err)
	})
	return errors.Join(err, waiting)
}

func (c *Cluster) orderAtOnce(p sim.Plugin, path string) error {
	part := "node"
	if p.Node == "" {
		part = "controller"
	}
	there, err := c.proxies(c.ctx, p.Driver, part, p.Node)
	if err != nil {
		return environment(err, "find the pod of the %s", p)
	}
	if len(there) == 0 {
		return noneRuns(p)
	}
	for _, at := range there {
		if _, err := c.ask(c.ctx, at, "POST", path, nil, nil); err != nil {
			return environment(err, "order %s of the %s", path, p)
		}
	}
	return nil
}

// orderRegistrar sends an order to csisim's own process that runs the registrar.
func (c *Cluster) orderRegistrar(r sim.PluginRegistrar, path string) error {
	return c.reached(r, func() error { return c.orderRegistrarAtOnce(r, path) })
}

func (c *Cluster) orderRegistrarAtOnce(r sim.PluginRegistrar, path string) error {
	there, err := c.proxies(c.ctx, r.Driver, "node", r.Node)
	if err == nil && len(there) == 0 {
		err = errors.New("none runs")
	}
	if err != nil {
		return environment(err, "find the pod of the %s", r)
	}
	at := there[0]
	at.port = deploy.KeeperPort
	_, err = c.ask(c.ctx, at, "POST", path, nil, nil)
	return environment(err, "order %s of the %s", path, r)
}

func noneRuns(p sim.Plugin) error {
	return &sim.EnvironmentError{Doing: "find the pod of the " + p.String(), Err: errors.New("none runs")}
}

func (c *Cluster) run(node string, command ...string) (string, error) {
	return c.runTo(fmt.Sprintf("run %q", strings.Join(command, " ")), node, command...)
}

// runTo runs a command on a node. Its errors name the purpose.
func (c *Cluster) runTo(doing, node string, command ...string) (string, error) {
	if c.options.Machines == nil {
		return "", &sim.EnvironmentError{Doing: "reach node " + node, Err: errors.New("the cluster is not kind's, and no image that csisim made for a driver could run there")}
	}
	out, err := c.options.Machines.Run(c.ctx, node, command...)
	return out, environment(err, "%s on %s", doing, node)
}

// reachesDirectly reports whether commands run on nodes without a pod there.
func (c *Cluster) reachesDirectly() bool {
	_, throughPods := c.options.Machines.(*NodePods)
	return c.options.Machines != nil && !throughPods
}

func (c *Cluster) stopKubelet(node string) error {
	c.silent[node] = true
	_, err := c.run(node, "systemctl", "stop", "kubelet")
	return err
}

func (c *Cluster) startKubelet(node string) error {
	_, err := c.run(node, "systemctl", "start", "kubelet")
	delete(c.silent, node)
	return err
}

// revive restores the power and the kubelets of nodes, so that a kept cluster is usable for another
// run.
func (c *Cluster) revive(ctx context.Context) (err error) {
	for _, node := range slices.Sorted(maps.Keys(c.dark)) {
		err = errors.Join(err, c.options.Machines.PowerOn(ctx, node))
	}
	for _, node := range slices.Sorted(maps.Keys(c.silent)) {
		_, failed := c.options.Machines.Run(ctx, node, "systemctl", "start", "kubelet")
		err = errors.Join(err, failed)
	}
	return err
}

// PowerOff cuts a node's power.
func (c *Cluster) PowerOff(node string) error {
	if c.options.Machines == nil {
		return &sim.EnvironmentError{Doing: "power off " + node, Err: ErrNotReal}
	}
	c.dark[node] = true
	c.outages[node]++
	c.transition(node, trace.Power, "power", trace.Lost)
	c.data.check.PowerLost(node)
	err := c.options.Machines.PowerOff(c.ctx, node)
	c.calls.cutOff(node)
	return environment(err, "power off %s", node)
}

// PowerOn boots a node again.
func (c *Cluster) PowerOn(node string) error {
	if c.options.Machines == nil {
		return &sim.EnvironmentError{Doing: "power on " + node, Err: ErrNotReal}
	}
	delete(c.dark, node)
	c.world.Trace.Note(node, "power on")
	return environment(c.options.Machines.PowerOn(c.ctx, node), "power on %s", node)
}

// ShutDown is not possible, because the kubelets of kind's nodes have no grace period for it.
func (c *Cluster) ShutDown(string, fakekubelet.ShutdownGrace) error { return ErrNotReal }

// Inject sends a fault to all proxies that it may concern.
func (c *Cluster) Inject(f *fault.Fault) error {
	c.faults = append(c.faults, f)
	return c.eachProxy(c.ctx, f.Driver, f.Node, func(at place) error {
		_, err := c.ask(c.ctx, at, "POST", "/faults", nil, f)
		return err
	})
}

// ClearFaults ends the fault with a name, or all faults if the name is empty.
func (c *Cluster) ClearFaults(name string) error {
	c.faults = slices.DeleteFunc(c.faults, func(f *fault.Fault) bool { return name == "" || f.Name == name })
	return c.eachProxy(c.ctx, "", "", func(at place) error {
		_, err := c.ask(c.ctx, at, "DELETE", "/faults", map[string]string{"name": name}, nil)
		return err
	})
}

// injectAgain sends the current faults to new proxies of a driver. part is node or controller;
// empty means both. node restricts the selection.
func (c *Cluster) injectAgain(driver, part, node string) error {
	there, err := c.proxies(c.ctx, driver, part, node)
	if err != nil {
		return environment(err, "list the pods of driver %s", driver)
	}
	for _, at := range there {
		for _, f := range c.faults {
			if f.Driver != "" && c.inCluster(f.Driver) != c.inCluster(driver) || !at.isOn(f.Node) || c.dark[at.node] {
				continue
			}
			if _, err := c.ask(c.ctx, at, "POST", "/faults", nil, f); err != nil {
				return environment(err, "reach the proxy in %s", at)
			}
		}
	}
	return nil
}

func (c *Cluster) eachProxy(ctx context.Context, driver, node string, do func(place) error) error {
	all, err := c.proxies(ctx, driver, "", "")
	if err != nil {
		return environment(err, "list the pods of the drivers")
	}
	for _, at := range all {
		if !at.isOn(node) || c.dark[at.node] {
			continue
		}
		if err := do(at); err != nil {
			return environment(err, "reach the proxy in %s", at)
		}
	}
	return nil
}

// RunsAs returns the user and the group of a pod's containers.
func (c *Cluster) RunsAs(key store.Key) (uid, gid int) {
	pod, _ := store.Get[*corev1.Pod](c.world.Store, key)
	return workload.RunsAs(pod)
}

// stopTime limits the cleanup at the end of a run.
const stopTime = 2 * time.Minute

// afterwards returns a context for the cleanup, which an interrupt does not end.
func afterwards() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), stopTime)
}
