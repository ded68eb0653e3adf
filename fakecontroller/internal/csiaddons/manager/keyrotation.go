package manager

import (
	"fmt"

	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/kinds"
	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/relay"
	"github.com/csisim/csisim/internal/world/kernel"
)

// keyRotationJob is the kind EncryptionKeyRotationJob. A-EKR-1
var keyRotationJob = jobKind{
	name: "EncryptionKeyRotationJob", done: "Key rotation operation successfully completed.",
	get:      got[jobObject](kinds.Get[kinds.KeyRotationJob]),
	try:      (*job).rotate,
	timeout:  defaultTimeout,
	noClient: "%w for node id: %s",
}

// rotate requests a change of the key from the node to which the volume is attached. A-EKR-2,
// A-EKR-3
func (j *job) rotate(p *kernel.Process, on target) error {
	if on.node == "" {
		return fmt.Errorf("no volume attachment found for PV %q", on.volume)
	}
	return j.askNode(p, on, "encryption_key_rotation.ENCRYPTIONKEYROTATION", "EncryptionKeyRotate", func(s relay.Asked, call relay.Call) error {
		return s.RotateKey(call, on.volume)
	})
}
