package fakecontroller

import (
	"fmt"

	"github.com/csisim/csisim/fakecontroller/internal/attachdetach"
	"github.com/csisim/csisim/fakecontroller/internal/clusterroleaggregation"
	"github.com/csisim/csisim/fakecontroller/internal/cronjob"
	"github.com/csisim/csisim/fakecontroller/internal/daemonset"
	"github.com/csisim/csisim/fakecontroller/internal/deployment"
	"github.com/csisim/csisim/fakecontroller/internal/disruption"
	"github.com/csisim/csisim/fakecontroller/internal/endpoints"
	"github.com/csisim/csisim/fakecontroller/internal/endpointslice"
	"github.com/csisim/csisim/fakecontroller/internal/ephemeral"
	"github.com/csisim/csisim/fakecontroller/internal/expand"
	"github.com/csisim/csisim/fakecontroller/internal/garbagecollector"
	"github.com/csisim/csisim/fakecontroller/internal/job"
	"github.com/csisim/csisim/fakecontroller/internal/namespace"
	"github.com/csisim/csisim/fakecontroller/internal/nodelifecycle"
	"github.com/csisim/csisim/fakecontroller/internal/nodettl"
	"github.com/csisim/csisim/fakecontroller/internal/persistentvolume"
	"github.com/csisim/csisim/fakecontroller/internal/podgc"
	"github.com/csisim/csisim/fakecontroller/internal/protection"
	"github.com/csisim/csisim/fakecontroller/internal/replicaset"
	"github.com/csisim/csisim/fakecontroller/internal/resourcequota"
	"github.com/csisim/csisim/fakecontroller/internal/scheduler"
	"github.com/csisim/csisim/fakecontroller/internal/selinuxwarning"
	"github.com/csisim/csisim/fakecontroller/internal/serviceaccount"
	"github.com/csisim/csisim/fakecontroller/internal/snapshot"
	"github.com/csisim/csisim/fakecontroller/internal/statefulset"
	"github.com/csisim/csisim/fakecontroller/internal/ttlafterfinished"
	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/component"
)

// Cluster is the environment in which controllers are started.
type Cluster struct {
	World *component.World
	// Heartbeats are the heartbeats of the nodes.
	Heartbeats nodelifecycle.Heartbeats
}

// Program is a running controller or sidecar.
type Program interface {
	// Crash ends the program at its current instruction.
	Crash()
	// SetPace sets the duration of its requests.
	SetPace(*component.Pace)
}

// Controller is one of the controllers of kube-controller-manager.
type Controller struct {
	Name  string
	Start func(Cluster) Program
	// Replica is zero for a controller that runs only once.
	Replica Replica
}

// Replica describes one of several replicas of a controller or sidecar. One of them is the leader.
type Replica struct {
	// Of is their common name.
	Of string
	// Lock is the leader's Lease, and Pod the identity of the replica in the Lease.
	Lock, Pod string
}

// ControllerManager is kube-controller-manager, in the order in which its controllers start.
var ControllerManager = []Controller{
	{Name: "attachdetach", Start: func(in Cluster) Program { return attachdetach.Start(in.World, attachdetach.Options{}) }},
	{Name: "persistentvolume", Start: func(in Cluster) Program { return persistentvolume.Start(in.World) }},
	{Name: "pvc-protection", Start: func(in Cluster) Program { return protection.StartClaims(in.World) }},
	{Name: "pv-protection", Start: func(in Cluster) Program { return protection.StartVolumes(in.World) }},
	{Name: "vac-protection", Start: func(in Cluster) Program { return protection.StartClasses(in.World) }},
	{Name: "expand", Start: func(in Cluster) Program { return expand.Start(in.World) }},
	{Name: "ephemeral", Start: func(in Cluster) Program { return ephemeral.Start(in.World) }},
	{Name: "garbagecollector", Start: func(in Cluster) Program { return garbagecollector.Start(in.World) }},
	{Name: "nodelifecycle", Start: func(in Cluster) Program { return nodelifecycle.Start(in.World, in.Heartbeats) }},
	{Name: "ttl", Start: func(in Cluster) Program { return nodettl.Start(in.World) }},
	{Name: "statefulset", Start: func(in Cluster) Program { return statefulset.Start(in.World) }},
	{Name: "daemonset", Start: func(in Cluster) Program { return daemonset.Start(in.World) }},
	{Name: "deployment", Start: func(in Cluster) Program { return deployment.Start(in.World) }},
	{Name: "replicaset", Start: func(in Cluster) Program { return replicaset.Start(in.World) }},
	{Name: "job", Start: func(in Cluster) Program { return job.Start(in.World) }},
	{Name: "cronjob", Start: func(in Cluster) Program { return cronjob.Start(in.World) }},
	{Name: "resourcequota", Start: func(in Cluster) Program { return resourcequota.Start(in.World) }},
	{Name: "disruption", Start: func(in Cluster) Program { return disruption.Start(in.World) }},
	{Name: "podgc", Start: func(in Cluster) Program { return podgc.Start(in.World) }},
	{Name: "ttl-after-finished", Start: func(in Cluster) Program { return ttlafterfinished.Start(in.World) }},
	{Name: "namespace", Start: func(in Cluster) Program { return namespace.Start(in.World) }},
	{Name: "serviceaccount", Start: func(in Cluster) Program { return serviceaccount.Start(in.World) }},
	{Name: "endpoints", Start: func(in Cluster) Program { return endpoints.Start(in.World) }},
	{Name: "endpointslice", Start: func(in Cluster) Program { return endpointslice.Start(in.World) }},
	{Name: "clusterrole-aggregation", Start: func(in Cluster) Program { return clusterroleaggregation.Start(in.World) }},
}

// SELinuxWarningName is the name of a controller in --controllers of kube-controller-manager. This
// controller is off by default.
const SELinuxWarningName = selinuxwarning.Name

// SELinuxWarning is a controller of kube-controller-manager that runs only if --controllers names
// it.
var SELinuxWarning = Controller{Name: "selinux-warning", Start: func(in Cluster) Program { return selinuxwarning.Start(in.World) }}

// Scheduler is kube-scheduler.
var Scheduler = Controller{Name: "scheduler", Start: func(in Cluster) Program { return scheduler.Start(in.World) }}

// SnapshotControllerOptions are the flags of the snapshot-controller.
type SnapshotControllerOptions = snapshot.Options

// SnapshotControllerName is the name of the program.
const SnapshotControllerName = snapshot.Name

// SnapshotController runs once for all drivers with snapshots, or in replicas.
func SnapshotController(o SnapshotControllerOptions) []Controller {
	if o.Replicas < 2 {
		return []Controller{{Name: snapshot.Name, Start: func(in Cluster) Program { return snapshot.Start(in.World, o) }}}
	}
	var all []Controller
	election := &sidecar.Election{}
	for n := 1; n <= int(o.Replicas); n++ {
		o := o
		o.Replica, o.Pod, o.Election = n, fmt.Sprintf("%s-%d", snapshot.Name, n), election
		all = append(all, Controller{
			Name: o.Called(snapshot.Name), Start: func(in Cluster) Program { return snapshot.Start(in.World, o) },
			Replica: Replica{Of: snapshot.Name, Lock: snapshot.Lock, Pod: o.Pod},
		})
	}
	return all
}
