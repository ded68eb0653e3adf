package sim

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/cluster"
)

// ChangeNode changes the answer of the mock driver to NodeGetInfo for a node, from the next call
// on. The name is the name of the driver or, for a further plugin, "driver/plugin".
func (c *Simulation) ChangeNode(name, node string, info mock.NodeInfo) error {
	p, err := c.drivers.Plugin(name, node)
	if err != nil {
		return err
	}
	subject := fmt.Sprintf("driver %q", name)
	mocked, is := p.Backend.(*cluster.Mocked)
	if !is {
		return &ConfigError{Subject: subject, Problem: "only the mock can change its information about a node; restart a program with other arguments"}
	}
	if err := mocked.Change(info); err != nil {
		return &ConfigError{Subject: subject, Problem: err.Error()}
	}
	c.World.Trace.Note(node, "%s changes the information about its node", p)
	return nil
}

// SetVolumeCondition makes a volume of a mock driver abnormal, with a message for the user, or
// healthy again if the message is empty. Volumes of other drivers are an error.
func (c *Simulation) SetVolumeCondition(pv *corev1.PersistentVolume, message string) error {
	subject := fmt.Sprintf("volume %q", pv.Name)
	if pv.Spec.CSI == nil {
		return &ConfigError{Subject: subject, Problem: "it has no CSI source, so no driver can report how it is"}
	}
	p, err := c.drivers.Plugin(pv.Spec.CSI.Driver, "")
	if err != nil {
		return err
	}
	if p.Driver.Mock == nil {
		return &ConfigError{Subject: subject, Problem: "its driver is no mock: only volumes of a mock can be made abnormal"}
	}
	var condition *mock.Condition
	if message != "" {
		condition = &mock.Condition{Message: message}
	}
	return p.Driver.Mock.SetCondition(pv.Spec.CSI.VolumeHandle, condition)
}
