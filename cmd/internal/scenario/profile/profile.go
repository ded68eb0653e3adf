// Package profile reads driver profiles. A profile describes how to start a well-known CSI driver
// from a local binary, and the volumes that the driver supports.
package profile

import (
	"cmp"
	"path/filepath"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/sim"
)

// Profile is one profile file.
type Profile struct {
	APIVersion  string `json:"apiVersion" want:"required" enum:"csisim.dev/v1alpha1" doc:"The version of the profile language."`
	Kind        string `json:"kind" want:"required" enum:"DriverProfile" doc:"Always DriverProfile."`
	Description string `json:"description,omitempty" doc:"A description of the driver."`
	Driver      string `json:"driver" want:"required" example:"nfs.csi.k8s.io" doc:"The driver's name, which GetPluginInfo must answer."`
	Binary      Binary `json:"binary,omitempty" doc:"Where the driver's program comes from."`

	ControllerBinary    Binary            `json:"controllerBinary,omitzero" doc:"The program of the controller plugin, if it is different."`
	Arguments           []string          `json:"arguments,omitempty" doc:"The program's arguments, templates with {{.Endpoint}} {{.Socket}} {{.NodeID}} {{.NodeName}} {{.StateDir}} {{.NodeStateDir}} {{.KubeletDir}} {{.Driver}} {{.Mode}} {{.ServiceURL}}."`
	ControllerArguments []string          `json:"controllerArguments,omitempty" doc:"The arguments of the controller plugin; default arguments."`
	Env                 map[string]string `json:"env,omitempty" doc:"Added to the environment; the values are templates, too."`
	Single              bool              `json:"single,omitempty" doc:"One process is both the controller plugin and the plugin of the only node."`
	NoController        bool              `json:"noController,omitempty" doc:"It has no controller plugin."`
	NodePaths           []string          `json:"nodePaths,omitempty" example:"[/var/lib/my-driver]" doc:"Directories of the node that its container mounts (hostPath): files there outlive the container. Files elsewhere are lost when it restarts, except below {{.KubeletDir}}, {{.StateDir}}, {{.NodeStateDir}} and directories of --host-path."`
	PluginSocket        string            `json:"pluginSocket,omitempty" example:"/run/my-driver/csi.sock" doc:"The socket at which it serves regardless of its flags; a driver that serves at /csi/csi.sock needs none."`
	AddonsSocket        string            `json:"addonsSocket,omitempty" example:"/csi/csi-addons.sock" doc:"The socket at which it serves CSI-Addons, in the directory of its CSI socket; default the CSI socket, or {{.AddonsSocket}} if the arguments have that."`
	StartTimeout        strict.Duration   `json:"startTimeout,omitzero" default:"10s" doc:"The wall time that it may take until its first answer."`
	Memory              resource.Quantity `json:"memory,omitzero" default:"2Gi" doc:"The memory limit of each of its processes; a process above it is killed."`
	Capabilities        []string          `json:"capabilities,omitempty" enum:"DAC_READ_SEARCH|SYS_BOOT|SYS_TIME" doc:"Capabilities of Linux that programs have only if they are named here, because they reach beyond the node."`

	CSIDriver     *storagev1.CSIDriverSpec `json:"csiDriver,omitempty" doc:"The spec of its CSIDriver object, as in its deployment."`
	StorageClass  Class                    `json:"storageClass,omitzero" doc:"The fields that a StorageClass of the driver needs."`
	SnapshotClass *Class                   `json:"snapshotClass,omitempty" doc:"The fields that a VolumeSnapshotClass of the driver needs; none if the driver has no snapshots."`
	VolumeModes   []string                 `json:"volumeModes,omitempty" enum:"Filesystem|Block" doc:"The volume modes that it can serve; default Filesystem."`
	AccessModes   []string                 `json:"accessModes,omitempty" enum:"ReadWriteOnce|ReadOnlyMany|ReadWriteMany|ReadWriteOncePod" doc:"The access modes that it can serve; default ReadWriteOnce."`

	VolumeSize       resource.Quantity `json:"volumeSize,omitzero" example:"1Gi" default:"16Mi" doc:"The size of requested volumes: a multiple of the driver's unit, if it rounds sizes up."`
	FSType           string            `json:"fsType,omitempty" example:"ext4" doc:"The file system of volumes; default the driver's choice."`
	VolumeHandle     string            `json:"volumeHandle,omitempty" doc:"The volume for the check, if the driver creates none."`
	VolumeAttributes map[string]string `json:"volumeAttributes,omitempty" doc:"The attributes of that volume, and of inline volumes."`
	SecretsFile      string            `json:"secretsFile,omitempty" example:"./secrets.yaml" doc:"The file with the Secrets of its calls, in the format of csi-sanity's --csi.secrets, or with one map for all calls; relative to this file."`

	ExtraCreateMetadata bool     `json:"extraCreateMetadata,omitempty" doc:"Its deployment runs csi-provisioner with --extra-create-metadata: the names of claim and volume are parameters of CreateVolume."`
	StandIns            StandIns `json:"standIns,omitzero" doc:"Stand-ins for services that the driver needs beside Kubernetes."`

	// Name is the file's name without its extension.
	Name string `json:"-"`
	// File is the path of the profile's file.
	File string `json:"-"`
}

// Binary is a driver's program.
type Binary struct {
	Name   string `json:"name" want:"required" example:"nfsplugin" doc:"The program's file name, which is looked up in PATH; a path that begins with ./ or ../ is relative to this file."`
	Source string `json:"source,omitempty" example:"https://github.com/kubernetes-csi/csi-driver-nfs" doc:"The repository of its source."`
	Build  string `json:"build,omitempty" example:"go build -o nfsplugin ./cmd/nfsplugin" doc:"The command that builds it in the repository."`
}

// Class holds the parameters and options of a driver's StorageClass or VolumeSnapshotClass.
type Class struct {
	Parameters   map[string]string `json:"parameters,omitempty" doc:"Its parameters."`
	MountOptions []string          `json:"mountOptions,omitempty" doc:"Its mount options, of a StorageClass."`
}

// Install returns the driver for the simulator. name and binary replace the driver's name and its
// program, unless they are empty.
func (p *Profile) Install(name, binary string) sim.Driver {
	if name == "" {
		name = p.Driver
	}
	if binary == "" {
		binary = p.program(p.Binary.Name)
	}
	program := &sim.Program{
		Command: command(binary, p.Arguments), Env: p.Env, Single: p.Single, PluginSocket: p.PluginSocket, NodePaths: p.NodePaths, AddonsSocket: p.AddonsSocket, StartTimeout: p.StartTimeout.Duration, Memory: p.Memory.Value(), Capabilities: p.Capabilities,
	}
	if p.ControllerArguments != nil || p.ControllerBinary.Name != "" {
		arguments := p.ControllerArguments
		if arguments == nil {
			arguments = p.Arguments
		}
		program.ControllerCommand = command(cmp.Or(p.program(p.ControllerBinary.Name), binary), arguments)
	}
	return sim.Driver{Name: name, Program: program, NoController: p.NoController, CSIDriver: p.CSIDriver.DeepCopy(), StandIns: p.StandIns.Make(filepath.Dir(p.File))}
}

func command(binary string, arguments []string) []string {
	return append([]string{binary}, arguments...)
}
