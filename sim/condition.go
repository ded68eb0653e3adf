package sim

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/drivers/mock"
)

// SetVolumeCondition makes a volume of a mock driver abnormal, with a message for the
// user, or well again if the message is empty. Volumes of other drivers are an error.
func (c *Simulation) SetVolumeCondition(pv *corev1.PersistentVolume, message string) error {
	subject := fmt.Sprintf("volume %q", pv.Name)
	if pv.Spec.CSI == nil {
		return &ConfigError{subject, "it has no CSI source, so no driver can report how it is"}
	}
	p, err := c.plugin(pv.Spec.CSI.Driver, "")
	if err != nil {
		return err
	}
	if p.driver.mock == nil {
		return &ConfigError{subject, "its driver is no mock: only volumes of a mock can be made abnormal"}
	}
	var condition *mock.Condition
	if message != "" {
		condition = &mock.Condition{Message: message}
	}
	return p.driver.mock.SetCondition(pv.Spec.CSI.VolumeHandle, condition)
}
