package provisioner

import (
	"cmp"
	"time"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/machine"
)

// Options are the program's flags. C-PROV-1
type Options struct {
	// Driver names the driver in recorded calls until the driver has returned its own name.
	Driver string `json:"-"`
	// Node is the node of the plugin, with NodeDeployment; otherwise empty.
	Node string `json:"-"`
	// Machine and Socket are the address of the plugin.
	Machine machine.Machine `json:"-"`
	Socket  string          `json:"-"`

	// Version is the release that is simulated. Default: the newest.
	Version sidecar.Release `json:"version,omitempty" example:"5.0" doc:"The release of the sidecar, if its behaviour differs from the newest one (docs/reference/versions.md); default the newest."`
	// Timeout bounds each CSI call, in virtual time. Default: 10 s.
	Timeout time.Duration `json:"timeout,omitzero" example:"1m" doc:"--timeout: the deadline of each CSI call; default 10s."`
	// RetryIntervalStart and RetryIntervalMax bound the delay before a claim or
	// volume that failed is tried again. Default 1 s and 5 min.
	RetryIntervalStart time.Duration `json:"retryIntervalStart,omitzero" example:"500ms" doc:"--retry-interval-start: the pause before the first retry, which doubles; default 1s."`
	RetryIntervalMax   time.Duration `json:"retryIntervalMax,omitzero" example:"1m" doc:"--retry-interval-max: the longest pause before a retry; default 5m."`
	// ExtraCreateMetadata adds the names of claim and volume to the parameters of CreateVolume.
	// Default: true, the setting of nearly all deployments; the program's own default is false.
	ExtraCreateMetadata *bool `json:"extraCreateMetadata,omitempty" doc:"--extra-create-metadata: the names of claim and volume are parameters of CreateVolume; default true, or the value in the profile."`
	// StrictTopology requests only the selected node's segment.
	StrictTopology bool `json:"strictTopology,omitempty" doc:"--strict-topology: request only the selected node's topology; default false."`
	// ImmediateTopology requests the cluster's topology when no node is selected and the class
	// allows all topologies. Default: true.
	ImmediateTopology *bool `json:"immediateTopology,omitempty" doc:"--immediate-topology: request the cluster's topology if no node is selected; default true."`
	// DefaultFSType is the file system if the class names none. Default: none.
	DefaultFSType string `json:"defaultFSType,omitempty" example:"ext4" doc:"--default-fstype: the file system if the class names none; default none."`
	// ControllerPublishReadOnly makes a volume read-only if ReadOnlyMany is the only access mode of
	// its claim.
	ControllerPublishReadOnly bool `json:"controllerPublishReadonly,omitempty" doc:"--controller-publish-readonly: volumes of claims with the access mode ReadOnlyMany only are read-only; default false."`
	// KubeAPICapacityQPS and KubeAPICapacityBurst are KubeAPIQPS and KubeAPIBurst of the
	// client that writes CSIStorageCapacities. Default: 1 and 5.
	KubeAPICapacityQPS   sidecar.Rate `json:"kubeAPICapacityQPS,omitempty" example:"10" doc:"--kube-api-capacity-qps: kubeAPIQPS of the client that writes CSIStorageCapacities; default 1."`
	KubeAPICapacityBurst uint         `json:"kubeAPICapacityBurst,omitempty" example:"20" doc:"--kube-api-capacity-burst: kubeAPIBurst of that client; default 5."`
	// CapacityPollInterval is the interval between requests for the driver's capacity. Default 1
	// min. C-PROV-91
	CapacityPollInterval time.Duration `json:"capacityPollInterval,omitzero" example:"10s" doc:"--capacity-poll-interval: the interval between calls of GetCapacity for each topology segment and class; default 1m."`
	// NodeDeployment runs one provisioner beside the plugin of each node, for the volumes of that
	// node. No provisioner runs beside the controller plugin then, and node plugins also serve the
	// Controller service. Default: false.
	NodeDeployment bool `json:"nodeDeployment,omitempty" doc:"--node-deployment: a csi-provisioner runs beside the plugin of each node, for the volumes of that node, and none beside the controller plugin. The plugins of the nodes must serve the Controller service; those of the mock do. Default false."`
	// NodeDeploymentImmediateBinding lets nodes take claims with immediate binding. Default: true.
	NodeDeploymentImmediateBinding *bool `json:"nodeDeploymentImmediateBinding,omitempty" doc:"--node-deployment-immediate-binding: a node takes claims of classes with immediate binding; default true."`
	// NodeDeploymentBaseDelay and NodeDeploymentMaxDelay limit the time for which a node leaves a
	// claim with immediate binding to other nodes. Default: 20 s and 60 s.
	NodeDeploymentBaseDelay time.Duration `json:"nodeDeploymentBaseDelay,omitzero" example:"1s" doc:"--node-deployment-base-delay: the longest time for which a node at first leaves such a claim to others; default 20s."`
	NodeDeploymentMaxDelay  time.Duration `json:"nodeDeploymentMaxDelay,omitzero" example:"10s" doc:"--node-deployment-max-delay: the limit of that time; default 60s."`
	// CrossNamespaceVolumeDataSource allows sources in other namespaces. Default: false. C-PROV-42
	CrossNamespaceVolumeDataSource bool `json:"crossNamespaceVolumeDataSource,omitempty" doc:"The feature gate CrossNamespaceVolumeDataSource is on: a dataSourceRef may name another namespace that has a ReferenceGrant; default false."`
	// HonorPVReclaimPolicy and VolumeAttributesClass are feature gates. Default: as in the release.
	HonorPVReclaimPolicy  *bool `json:"honorPVReclaimPolicy,omitempty" doc:"The feature gate HonorPVReclaimPolicy: a volume that is deleted before its claim is deleted at the storage, too; default true since 5.0."`
	VolumeAttributesClass *bool `json:"volumeAttributesClass,omitempty" doc:"The feature gate VolumeAttributesClass: new volumes have the class of their claim; default true since 6.0."`
	sidecar.Flags
}

// honorsPolicy: C-PROV-71
func (o Options) honorsPolicy() bool {
	return o.Version.Gate(o.HonorPVReclaimPolicy, sidecar.HonorsReclaimPolicy)
}

// Workers limits the number of claims, and of volumes, that are processed at once.
const Workers = 100

// The delays of --node-deployment. C-PROV-80
const (
	baseDelay = 20 * time.Second
	maxDelay  = time.Minute
)

// infeasibleDelay is the time until a claim is retried after an infeasible result. It does not
// depend on the retry intervals. C-PROV-15
const infeasibleDelay = 5 * time.Minute

func (o Options) withDefaults() Options {
	o.Timeout = cmp.Or(o.Timeout, 10*time.Second)
	o.RetryIntervalStart = cmp.Or(o.RetryIntervalStart, time.Second)
	o.RetryIntervalMax = cmp.Or(o.RetryIntervalMax, 5*time.Minute)
	o.KubeAPICapacityQPS = cmp.Or(o.KubeAPICapacityQPS, 1)
	o.KubeAPICapacityBurst = cmp.Or(o.KubeAPICapacityBurst, 5)
	o.ExtraCreateMetadata = cmp.Or(o.ExtraCreateMetadata, new(true))
	o.ImmediateTopology = cmp.Or(o.ImmediateTopology, new(true))
	o.NodeDeploymentImmediateBinding = cmp.Or(o.NodeDeploymentImmediateBinding, new(true))
	o.NodeDeploymentBaseDelay = cmp.Or(o.NodeDeploymentBaseDelay, baseDelay)
	o.NodeDeploymentMaxDelay = cmp.Or(o.NodeDeploymentMaxDelay, maxDelay)
	o.CapacityPollInterval = cmp.Or(o.CapacityPollInterval, time.Minute)
	return o
}
