package profile

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/csisim/csisim/internal/input/strict"
)

// Secrets are the secrets of a driver's calls, by their names in class parameters, such as
// provisioner and node-stage. Kubernetes passes the same secret to a call and to its inverse.
type Secrets map[string]map[string]string

// calls are the Secrets of a file, with csi-sanity's names.
type calls struct {
	CreateVolume               map[string]string `json:"CreateVolumeSecret,omitempty" doc:"Of CreateVolume."`
	DeleteVolume               map[string]string `json:"DeleteVolumeSecret,omitempty" doc:"Of DeleteVolume; the same as of CreateVolume."`
	ControllerPublishVolume    map[string]string `json:"ControllerPublishVolumeSecret,omitempty" doc:"Of ControllerPublishVolume."`
	ControllerUnpublishVolume  map[string]string `json:"ControllerUnpublishVolumeSecret,omitempty" doc:"Of ControllerUnpublishVolume; the same as of ControllerPublishVolume."`
	NodeStageVolume            map[string]string `json:"NodeStageVolumeSecret,omitempty" doc:"Of NodeStageVolume."`
	NodePublishVolume          map[string]string `json:"NodePublishVolumeSecret,omitempty" doc:"Of NodePublishVolume."`
	ControllerExpandVolume     map[string]string `json:"ControllerExpandVolumeSecret,omitempty" doc:"Of ControllerExpandVolume."`
	NodeExpandVolume           map[string]string `json:"NodeExpandVolumeSecret,omitempty" doc:"Of NodeExpandVolume."`
	CreateSnapshot             map[string]string `json:"CreateSnapshotSecret,omitempty" doc:"Of CreateSnapshot."`
	DeleteSnapshot             map[string]string `json:"DeleteSnapshotSecret,omitempty" doc:"Of DeleteSnapshot; the same as of CreateSnapshot."`
	ListSnapshots              map[string]string `json:"ListSnapshotsSecret,omitempty" doc:"Of ListSnapshots."`
	GetSnapshot                map[string]string `json:"GetSnapshotSecret,omitempty" doc:"Of GetSnapshot; the same as of ListSnapshots."`
	ControllerModifyVolume     map[string]string `json:"ControllerModifyVolumeSecret,omitempty" doc:"Of ControllerModifyVolume, which is not called."`
	ValidateVolumeCapabilities map[string]string `json:"ControllerValidateVolumeCapabilitiesSecret,omitempty" doc:"Of ValidateVolumeCapabilities, which Kubernetes never calls."`
}

// ReadSecrets reads a file of Secrets: one map for all calls, or one for each call as in
// csi-sanity's --csi.secrets. The error is an error of reading the file, or strict.Problems with
// all mistakes in the file.
func ReadSecrets(file string) (Secrets, error) {
	text, err := strict.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read secrets: %w", err)
	}
	var all map[string]string
	if byCall(text) {
		return readByCall(file, text)
	}
	if _, problems := strict.Decode(file, text, &all); len(problems) > 0 {
		return nil, problems
	}
	s := Secrets{}
	for _, kind := range []string{"provisioner", "controller-publish", "node-stage", "node-publish", "controller-expand", "node-expand", "snapshotter", "snapshotter-list"} {
		s[kind] = all
	}
	return s, nil
}

// byCall reports whether a file has a map for each call.
func byCall(text []byte) bool {
	var top map[string]yaml.Node
	if yaml.Unmarshal(text, &top) != nil {
		return false // the decoder reports the error
	}
	for _, value := range top {
		if value.Kind == yaml.MappingNode {
			return true
		}
	}
	return false
}

func readByCall(file string, text []byte) (Secrets, error) {
	c := &calls{}
	document, problems := strict.Decode(file, text, c)
	if len(problems) > 0 {
		return nil, problems
	}
	s := Secrets{}
	for _, pair := range []struct {
		kind, call, undo string
		secret, other    map[string]string
	}{
		{"provisioner", "CreateVolume", "DeleteVolume", c.CreateVolume, c.DeleteVolume},
		{"controller-publish", "ControllerPublishVolume", "ControllerUnpublishVolume", c.ControllerPublishVolume, c.ControllerUnpublishVolume},
		{"node-stage", "NodeStageVolume", "", c.NodeStageVolume, nil},
		{"node-publish", "NodePublishVolume", "", c.NodePublishVolume, nil},
		{"controller-expand", "ControllerExpandVolume", "", c.ControllerExpandVolume, nil},
		{"node-expand", "NodeExpandVolume", "", c.NodeExpandVolume, nil},
		{"snapshotter", "CreateSnapshot", "DeleteSnapshot", c.CreateSnapshot, c.DeleteSnapshot},
		{"snapshotter-list", "ListSnapshots", "GetSnapshot", c.ListSnapshots, c.GetSnapshot},
	} {
		secret := pair.secret
		switch {
		case secret == nil:
			secret = pair.other
		case pair.other != nil && !maps.Equal(secret, pair.other):
			document.Report(pair.undo+"Secret", "another Secret than "+pair.call+"Secret", "the same: Kubernetes gives both calls one Secret")
		}
		if secret != nil {
			s[pair.kind] = secret
		}
	}
	return s, document.Problems().Err()
}

// Secrets reads the Secrets that the profile names; none if it names none.
func (p *Profile) Secrets() (Secrets, error) {
	if p.SecretsFile == "" {
		return nil, nil
	}
	return ReadSecrets(p.beside(p.SecretsFile))
}

// beside resolves a path in the profile relative to its file.
func (p *Profile) beside(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(filepath.Dir(p.File), file)
}

// program resolves the path of a program. A path that begins with ./ or ../ is relative to the
// profile's file.
func (p *Profile) program(name string) string {
	if p.File == "" || !strings.HasPrefix(name, "./") && !strings.HasPrefix(name, "../") {
		return name
	}
	full, err := filepath.Abs(p.beside(name))
	if err != nil {
		return name
	}
	return full
}
