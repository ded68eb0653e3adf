package fakecontroller

import (
	"github.com/csisim/csisim/fakecontroller/internal/attachdetach"
	"github.com/csisim/csisim/fakecontroller/internal/cronjob"
	"github.com/csisim/csisim/fakecontroller/internal/daemonset"
	"github.com/csisim/csisim/fakecontroller/internal/deployment"
	"github.com/csisim/csisim/fakecontroller/internal/disruption"
	"github.com/csisim/csisim/fakecontroller/internal/ephemeral"
	"github.com/csisim/csisim/fakecontroller/internal/expand"
	"github.com/csisim/csisim/fakecontroller/internal/garbagecollector"
	"github.com/csisim/csisim/fakecontroller/internal/job"
	"github.com/csisim/csisim/fakecontroller/internal/nodelifecycle"
	"github.com/csisim/csisim/fakecontroller/internal/persistentvolume"
	"github.com/csisim/csisim/fakecontroller/internal/podgc"
	"github.com/csisim/csisim/fakecontroller/internal/protection"
	"github.com/csisim/csisim/fakecontroller/internal/replicaset"
	"github.com/csisim/csisim/fakecontroller/internal/resourcequota"
	"github.com/csisim/csisim/fakecontroller/internal/scheduler"
	"github.com/csisim/csisim/fakecontroller/internal/selinuxwarning"
	"github.com/csisim/csisim/fakecontroller/internal/snapshot"
	"github.com/csisim/csisim/fakecontroller/internal/statefulset"
	"github.com/csisim/csisim/internal/world/component"
)

// Cluster is what controllers are started in.
type Cluster struct {
	World *component.World
	// Heartbeats are those of the nodes.
	Heartbeats nodelifecycle.Heartbeats
}

// Program is a controller or sidecar that runs.
type Program interface {
	// Crash ends it where it stands.
	Crash()
	// SetPace says how long its requests take.
	SetPace(*component.Pace)
}

// Controller is one of the controllers of kube-controller-manager.
type Controller struct {
	Name  string
	Start func(Cluster) Program
}

// ControllerManager is kube-controller-manager, in the order in which its controllers start.
var ControllerManager = []Controller{
	{"attachdetach", func(in Cluster) Program { return attachdetach.Start(in.World, attachdetach.Options{}) }},
	{"persistentvolume", func(in Cluster) Program { return persistentvolume.Start(in.World) }},
	{"pvc-protection", func(in Cluster) Program { return protection.StartClaims(in.World) }},
	{"pv-protection", func(in Cluster) Program { return protection.StartVolumes(in.World) }},
	{"vac-protection", func(in Cluster) Program { return protection.StartClasses(in.World) }},
	{"expand", func(in Cluster) Program { return expand.Start(in.World) }},
	{"ephemeral", func(in Cluster) Program { return ephemeral.Start(in.World) }},
	{"garbagecollector", func(in Cluster) Program { return garbagecollector.Start(in.World) }},
	{"nodelifecycle", func(in Cluster) Program { return nodelifecycle.Start(in.World, in.Heartbeats) }},
	{"statefulset", func(in Cluster) Program { return statefulset.Start(in.World) }},
	{"daemonset", func(in Cluster) Program { return daemonset.Start(in.World) }},
	{"deployment", func(in Cluster) Program { return deployment.Start(in.World) }},
	{"replicaset", func(in Cluster) Program { return replicaset.Start(in.World) }},
	{"job", func(in Cluster) Program { return job.Start(in.World) }},
	{"cronjob", func(in Cluster) Program { return cronjob.Start(in.World) }},
	{"resourcequota", func(in Cluster) Program { return resourcequota.Start(in.World) }},
	{"disruption", func(in Cluster) Program { return disruption.Start(in.World) }},
	{"podgc", func(in Cluster) Program { return podgc.Start(in.World) }},
}

// SELinuxWarningName is how kube-controller-manager's --controllers names the one that is off by default.
const SELinuxWarningName = selinuxwarning.Name

// SELinuxWarning is the controller of kube-controller-manager that runs only if it is named.
var SELinuxWarning = Controller{"selinux-warning", func(in Cluster) Program { return selinuxwarning.Start(in.World) }}

// Scheduler is kube-scheduler.
var Scheduler = Controller{"scheduler", func(in Cluster) Program { return scheduler.Start(in.World) }}

// SnapshotControllerOptions are the flags of the snapshot-controller.
type SnapshotControllerOptions = snapshot.Options

// SnapshotController runs once for all drivers that make snapshots.
func SnapshotController(o SnapshotControllerOptions) Controller {
	return Controller{"snapshot-controller", func(in Cluster) Program { return snapshot.Start(in.World, o) }}
}
