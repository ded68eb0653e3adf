package sim

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/fakekubelet"
)

// Shortage is the amount of a resource that a node lacks, in bytes. Each evicted pod releases the
// amount that it uses.
type Shortage = fakekubelet.Shortage

// SetShortage makes a node short of memory or ephemeral-storage from now on; a shortage of 0 bytes
// ends the shortage.
func (c *Simulation) SetShortage(name string, of corev1.ResourceName, s Shortage) error {
	n, err := c.nodes.Named(name)
	if err != nil {
		return err
	}
	if of != corev1.ResourceMemory && of != corev1.ResourceEphemeralStorage {
		return &ConfigError{Subject: fmt.Sprintf("resource %q", of), Problem: "want memory or ephemeral-storage"}
	}
	c.World.Trace.Note(name, "%d MiB of %s are missing", s.Missing>>20, of)
	n.Pressure[of] = &s
	if n.Kubelet != nil {
		n.Kubelet.PressureChanged()
	}
	return nil
}
