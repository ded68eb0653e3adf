package cluster

import (
	"fmt"

	"github.com/csisim/csisim/internal/world/trace"
)

// KillKubelet crashes a kubelet: its memory is lost, but files, mounts and containers stay.
func (all *Nodes) KillKubelet(node string) error {
	n, err := all.Named(node)
	if err != nil {
		return err
	}
	switch down := all.Awaiting.Settle(KubeletOf{n}); {
	case down && n.Kubelet == nil:
		all.World.Trace.Note(node, "kubelet stays down")
		return nil
	case n.Kubelet == nil:
		return &ConfigError{fmt.Sprintf("kubelet on %q", node), "it does not run"}
	}
	all.noteKubelet(n, trace.Killed)
	all.CrashKubelet(n)
	return nil
}

// RestartKubelet starts a kubelet again.
func (all *Nodes) RestartKubelet(node string) error {
	n, err := all.Named(node)
	if err != nil {
		return err
	}
	switch {
	case n.Off:
		return &ConfigError{fmt.Sprintf("kubelet on %q", node), "the node is powered off"}
	case n.Kubelet != nil:
		return &ConfigError{fmt.Sprintf("kubelet on %q", node), "it runs already"}
	}
	all.noteKubelet(n, trace.Started)
	all.Awaiting.Settle(KubeletOf{n})
	all.StartKubelet(n)
	return nil
}

func (all *Nodes) noteKubelet(n *Node, verb trace.Verb) {
	all.World.Trace.Add(trace.Transition{Part: trace.Kubelet, Name: "kubelet", Verb: verb}.Entry(n.Name))
}
