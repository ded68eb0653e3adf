package manager

import (
	"fmt"

	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/kinds"
	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/relay"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// syncKeyRotationJob makes one pass of an EncryptionKeyRotationJob. A-EKR-1
func (m *Manager) syncKeyRotationJob(p *kernel.Process, key store.Key) error {
	object, err := kinds.Get[kinds.KeyRotationJob](m.Component, key)
	if err != nil {
		return ignoreNotFound(err)
	}
	j := &job{manager: m, object: object, Job: &object.Job, kind: "EncryptionKeyRotationJob", done: "Key rotation operation successfully completed.", timeout: defaultTimeout}
	j.try = j.rotate
	return j.run(p)
}

// rotate has the node rotate that the volume is attached to. A-EKR-2, A-EKR-3
func (j *job) rotate(p *kernel.Process, on target) error {
	if on.node == "" {
		return fmt.Errorf("no volume attachment found for PV %q", on.volume)
	}
	err := j.rotateOnNode(p, on)
	if err != nil {
		j.failed(p, "Failed to make node request: "+messageOf(err))
	}
	return err
}

func (j *job) rotateOnNode(p *kernel.Process, on target) error {
	c := j.manager.onNode(on.driver, on.node, "encryption_key_rotation.ENCRYPTIONKEYROTATION")
	if c == nil {
		return fmt.Errorf("%w for node id: %s", errNodeClientNotFound, on.node)
	}
	return unlessUnimplemented(c.call(p, "EncryptionKeyRotate", on.timeout, func(s relay.Service, call relay.Call) error {
		return s.RotateKey(call, on.volume)
	}))
}
