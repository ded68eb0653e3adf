package csi

import (
	"encoding/json"
	"fmt"
	"path"

	"github.com/csisim/csisim/internal/world/volume"
)

// Data is the kubelet's record of a volume on disk: a JSON object of strings with sorted keys and a
// trailing newline. K-PATH-10
type Data map[string]string

// Keys of Data.
const (
	keyAttachment = "attachmentID"
	keyDriver     = "driverName"
	keyHandle     = "volumeHandle"
	keyLabel      = "seLinuxMountContext"
	keyLifecycle  = "volumeLifecycleMode"
	keyNode       = "nodeName"
	keySpec       = "specVolID"
)

// Lifecycle modes of a volume.
const (
	persistent = "Persistent"
	ephemeral  = "Ephemeral"
)

func stagingData(driver, handle string) Data {
	return Data{keyDriver: driver, keyHandle: handle}
}

// labelled adds the SELinux label with which the volume is mounted.
func (d Data) labelled(label string) Data {
	if label != "" {
		d[keyLabel] = label
	}
	return d
}

// podData is written for inline and non-attachable volumes too. K-PATH-10
func (pl *Plugin) podData(s *Spec, handle string) Data {
	node := pl.kubelet.Node
	return Data{
		keyAttachment: volume.AttachmentName(handle, s.Driver(), node),
		keyDriver:     s.Driver(), keyHandle: handle, keyNode: node, keySpec: s.Name,
	}
}

func (s *Spec) lifecycle() string {
	if s.Inline != nil {
		return ephemeral
	}
	return persistent
}

func (f files) writeData(dir string, d Data) error {
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return f.write(path.Join(dir, dataFile), append(text, '\n'))
}

// ReadData reads the volume data file in dir.
func (pl *Plugin) ReadData(dir string) (Data, error) {
	name := path.Join(dir, dataFile)
	text, err := pl.machine.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("failed to open volume data file [%s]: %w", name, err)
	}
	var d Data
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("failed to parse volume data file [%s]: %w", name, err)
	}
	return d, nil
}
