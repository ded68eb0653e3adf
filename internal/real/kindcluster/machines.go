package kindcluster

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/kind/pkg/cluster/nodes"

	"github.com/csisim/csisim/internal/real/lines"
	"github.com/csisim/csisim/sim"
)

func (c *Cluster) node(name string) (nodes.Node, error) {
	n, ok := c.nodes[name]
	if !ok {
		return nil, fmt.Errorf("the kind cluster %q has no node %s", c.name, name)
	}
	return n, nil
}

// wake starts stopped nodes, and the kubelets of the others.
func (c *Cluster) wake() error {
	all, err := c.provider.ListInternalNodes(c.name)
	if err != nil {
		return &sim.EnvironmentError{Doing: "list the nodes of the kind cluster", Err: err}
	}
	for _, n := range all {
		running, err := exec.Command(c.engine, "inspect", "--format", "{{.State.Running}}", n.String()).Output()
		if err != nil {
			return &sim.EnvironmentError{Doing: "look at node " + n.String(), Err: err}
		}
		if strings.TrimSpace(string(running)) == "false" { // the kubelet starts with its node
			if out, err := exec.Command(c.engine, "start", n.String()).CombinedOutput(); err != nil {
				return &sim.EnvironmentError{Doing: "start node " + n.String(), Err: fmt.Errorf("%w: %s", err, lastLine(string(out)))}
			}
			continue
		}
		if _, err := output(n.Command("systemctl", "start", "kubelet")); err != nil {
			return &sim.EnvironmentError{Doing: "start the kubelet of node " + n.String(), Err: err}
		}
	}
	return c.findNodes()
}

// Run runs a command on a node and returns its output.
func (c *Cluster) Run(ctx context.Context, name string, command ...string) (string, error) {
	n, err := c.node(name)
	if err != nil {
		return "", err
	}
	return output(n.CommandContext(ctx, command[0], command[1:]...))
}

// untilInputEnds runs a command until it or its input ends. Otherwise a command on a node would
// outlive its starter.
const untilInputEnds = `exec 3<&0
"$@" </dev/null 3<&- &
program=$!
{ cat <&3 >/dev/null; kill $program; } >/dev/null 2>&1 &
exec 3<&-
wait $program`

// endTime bounds the time that a command may take to end after its input ends.
const endTime = 5 * time.Second

// Follow runs a command on a node until ctx ends, and calls line with each line of its output. The
// command ends with this process at the latest.
func (c *Cluster) Follow(ctx context.Context, name string, line func(string), command ...string) error {
	n, err := c.node(name)
	if err != nil {
		return err
	}
	input, hold, err := os.Pipe()
	if err != nil {
		return err
	}
	defer input.Close()
	output, printed := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = lines.Each(output, line) // it ends with the command
	}()
	running, end := context.WithCancel(context.Background())
	defer end()
	stop := context.AfterFunc(ctx, func() {
		hold.Close()
		time.AfterFunc(endTime, end)
	})
	err = n.CommandContext(running, "sh", append([]string{"-c", untilInputEnds, "sh"}, command...)...).SetStdin(input).SetStdout(printed).Run()
	printed.Close()
	<-done
	if stop() {
		hold.Close()
	}
	return err
}

// RunOnOne runs a command on the first node on which it succeeds. If there is none, it returns the
// error of the last node.
func (c *Cluster) RunOnOne(ctx context.Context, command ...string) (err error) {
	for _, name := range slices.Sorted(maps.Keys(c.nodes)) {
		if _, err = c.Run(ctx, name, command...); err == nil {
			return nil
		}
	}
	return err
}

// RunOnAll runs a command on all nodes.
func (c *Cluster) RunOnAll(ctx context.Context, command ...string) error {
	for _, name := range slices.Sorted(maps.Keys(c.nodes)) {
		if _, err := c.Run(ctx, name, command...); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// PowerOff kills a node's container with all of its processes.
func (c *Cluster) PowerOff(ctx context.Context, name string) error { return c.order(ctx, name, "kill") }

// PowerOn starts a node's container again.
func (c *Cluster) PowerOn(ctx context.Context, name string) error { return c.order(ctx, name, "start") }

// orderTime limits an order to the engine.
const orderTime = 2 * time.Minute

func (c *Cluster) order(ctx context.Context, name, verb string) error {
	n, err := c.node(name)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, orderTime)
	defer cancel()
	if out, err := exec.CommandContext(ctx, c.engine, verb, n.String()).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s %s: %w: %s", c.engine, verb, n, err, lastLine(string(out)))
	}
	return nil
}
