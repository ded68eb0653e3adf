package diff

// Tolerance is the name of an accepted difference between two traces.
type Tolerance string

// The tolerances. Tolerances has their meanings and reasons.
const (
	Identities      Tolerance = "identities"
	Times           Tolerance = "times"
	Revisions       Tolerance = "revisions"
	TransitionTime  Tolerance = "whole-seconds"
	Setup           Tolerance = "setup"
	Bystanders      Tolerance = "bystanders"
	Abridged        Tolerance = "abridged"
	NotCompared     Tolerance = "not-compared"
	Probe           Tolerance = "probe"
	NotReached      Tolerance = "not-reached"
	DoubleCall      Tolerance = "double-call"
	PeriodicCalls   Tolerance = "periodic-calls"
	CallerGone      Tolerance = "caller-gone"
	LeftOver        Tolerance = "left-over"
	Capabilities    Tolerance = "capability-calls"
	DeadlineText    Tolerance = "deadline-text"
	DeadSocket      Tolerance = "dead-socket"
	NodeFields      Tolerance = "order-of-node-fields"
	LastFinalizers  Tolerance = "last-finalizers"
	StillAttached   Tolerance = "still-attached"
	Together        Tolerance = "together"
	RetryGap        Tolerance = "retry-gap"
	WaitGap         Tolerance = "wait-gap"
	EventCounts     Tolerance = "event-counts"
	SchedulerEvents Tolerance = "scheduler-events"
	MountSource     Tolerance = "mount-source"
	NodeHealth      Tolerance = "node-health-events"
	MachineCapacity Tolerance = "machine-capacity"

	RegistrationRounds Tolerance = "registration-rounds"
	ConflictRepeat     Tolerance = "conflict-repeat"
	ClaimOrder         Tolerance = "order-of-claims"
)

// Rule describes a tolerance and its reason.
type Rule struct {
	Name   Tolerance
	Levels []Level
	// Allows describes the accepted differences.
	Allows string
	// Because gives the reason: observations in real repetitions, or the way in which traces are
	// recorded.
	Because string
}

// Tolerances is the only table of accepted differences between equal traces.
var Tolerances = []Rule{
	{Identities, Levels,
		"uids, generated names, names of termination logs, volume and snapshot ids of the driver, names computed from them (staging directory, VolumeAttachment, inline volume), the instance in an event's source, zone and region labels, the hash of a pod template's revision",
		"every run generates them; each is replaced by its role, and computed names only if they are correct; recordings lack the parts of a template from which the hash is computed"},
	{Times, []Level{Requests, Objects, Events},
		"absolute times",
		"no two runs happen at the same time"},
	{Revisions, []Level{Objects},
		"resourceVersion",
		"the version counts the writes of the whole cluster"},
	{TransitionTime, []Level{Objects},
		"whether lastPhaseTransitionTime changes with the phase, and deletionTimestamp when an object that is being deleted is deleted again; in a recording with a step `-- set-up done`, whether a patch repeats conditions that differ in their times only",
		"they have whole seconds, so two changes within one second give the same value"},
	{Setup, []Level{Calls, Objects, Events},
		"the way in which the cluster reached its state before the first step, and RegisteredNode of a node in this state",
		"a recording begins with a running cluster, and a simulation creates its cluster first; the state itself is compared"},
	{Bystanders, []Level{Calls, Objects, Files},
		"drivers, classes and directories that have no part in the scenario, and the NodeGetInfo of such a driver: in the same round as another, or changing nothing in a trace that does not name its drivers; where sidecars of CSI-Addons are started, calls of other programs and objects of drivers that serve no CSI-Addons",
		"the recorded scenarios shared one cluster, with other drivers and leftovers of earlier scenarios on disk; the cluster of CSI-Addons had no kubelet and no other sidecars"},
	{Abridged, []Level{Calls, Objects, Events},
		"initial objects, capability and identity calls and the events Pulled, Created, Started, Killing, Provisioning and ExternalProvisioning, if a trace has none of them",
		"the second recordings were stored without them"},
	{NotCompared, Levels,
		"lines that only one kind of trace has: steps, registration calls, single changes on disk, choices, faults, violations, and objects of other resources than recordings hold; between a recording and a simulation, the number of restarts of containers, and the reason Unknown of containers that end with their node's power; where sidecars of CSI-Addons are started and nodes and pods are only objects, also nodes, csinodes, csidrivers, pods, storageclasses, generation and deletionGracePeriodSeconds",
		"they describe how the run was made, or the recorder did not watch them; the results are compared"},
	{Probe, []Level{Calls},
		"Identity/Probe",
		"recordings do not hold the Probe calls of the sidecars"},
	{NotReached, []Level{Calls},
		"calls that end in Unavailable with a connection error because no server listens at the socket",
		"the recorder took the driver's place, so recordings lack calls that do not reach the driver"},
	{DoubleCall, []Level{Calls, Gaps},
		"a second ControllerPublishVolume or DeleteVolume within 150 ms of the same call, and the step of the backoff that it uses up",
		"a quarter of the real calls are doubled: the caller's own write queues the object again before its cache shows the outcome (facts 6, 23)"},
	{PeriodicCalls, []Level{Calls, Requests},
		"number and place of NodeGetVolumeStats and ListVolumes; a request and code that the other trace never has counts as a difference if it occurs three times, or in all such calls",
		"periodic loops with an arbitrary phase (facts 43, 67)"},
	{CallerGone, []Level{Calls},
		"Canceled instead of another code in a call that a fault delayed until its caller was killed",
		"no caller is left to receive the code, which depends on a race"},
	{LeftOver, []Level{Calls, Objects, Events},
		"the end of volumes and attachments that existed before the trace began",
		"leftovers of an earlier scenario on the recorded cluster are deleted in their own time (fact 29)"},
	{Capabilities, []Level{Calls},
		"the one of several overlapping operations to which a capability call of the node belongs",
		"the call does not name its volume"},
	{DeadlineText, []Level{Events, Objects},
		"the wording of an error after a deadline, or after a connection was lost",
		"context deadline exceeded, or RST_STREAM with CANCEL, by a race inside gRPC (fact 45)"},
	{DeadSocket, []Level{Events, Objects},
		"\"no such file or directory\" or \"connection refused\" when a dead driver's socket is dialled",
		"in the recordings a dead driver's socket file was removed; a killed driver leaves it"},
	{NodeFields, []Level{Objects},
		"the order in which different fields of a Node, of a VolumeGroupReplication or of its content change",
		"kubelet, attach/detach controller and node controller write the Node independently; volumesInUse comes before or after volumesAttached; the three controllers of a group write each other's objects"},
	{LastFinalizers, []Level{Objects},
		"the order in which the finalizers of an object that is being deleted disappear, and the number of writes",
		"the protection controllers and sidecars do not wait for each other"},
	{StillAttached, []Level{Calls, Events, Gaps},
		"a VolumeFailedDelete \"is still attached to node\", and the second that it costs",
		"a race between the provisioner's cache and the VolumeAttachment's end (fact 31)"},
	{Together, []Level{Calls, Objects},
		"the order of a cause and its effect, or of two callers' calls on one volume, within 25 ms; also of the simultaneous calls of a starting sidecar of CSI-Addons",
		"recordings see objects through watches, which are not ordered against each other or against calls"},
	{RetryGap, []Level{Gaps},
		"15 % of the gap, at least 150 ms; 600 ms for events of the attach/detach controller",
		"one poll period of the component and the load of the recording machine; longest seen between repeats is 100 ms"},
	{WaitGap, []Level{Gaps},
		"the phase of the periodic loop for which a call waits, see Phases",
		"a loop's phase is arbitrary against the scenario"},
	{EventCounts, []Level{Events},
		"the number of repetitions of ExternalProvisioning, of FailedScheduling for an unbound claim, and of NodeReady",
		"other changes in the cluster repeat them; two loops of a kubelet that starts report its node at the same time"},
	{SchedulerEvents, []Level{Events},
		"whether the first emission of an event of kube-scheduler has the count 0 or 1",
		"it goes through events.k8s.io, which does not count it, or, if the API does not answer when the scheduler starts, through core events, which do (NewEventBroadcasterAdapter)"},
	{MountSource, []Level{Files},
		"file system type and source of a mount, and the options that its file system has by itself; whether a file that the driver mounts is a device",
		"the disk and the file system depend on the driver; whether it is mounted, read-only and with the requested options is compared"},
	{RegistrationRounds, []Level{Objects},
		"in a recording with a step `-- set-up done`, the number of times that a CSIAddonsNode is tried without success, deleted and recreated before it is connected",
		"its sidecar listens only after it has generated its key, and the manager's attempts take milliseconds (0 to 4 rounds between repeats)"},
	{ConflictRepeat, []Level{Calls, Gaps},
		"a call of CSI-Addons that forms or ends a group, disables replication or fences, repeated with the same request and outcome within 250 ms",
		"writes of controllers to the same object conflict (409), and the pass with its call is repeated; the number differs between repeats"},
	{ClaimOrder, []Level{Objects},
		"the order of persistentVolumeClaimsRefList",
		"it is the order of the manager's cache, which is a map, and changes between passes"},
	{NodeHealth, []Level{Events},
		"events NodeHasSufficientMemory, NodeHasNoDiskPressure, NodeHasSufficientPID, NodeAllocatableEnforced and CgroupV1",
		"the health of the recording machine and its control groups, emitted whenever a part of a kubelet builds a Node object, and when a kubelet starts"},
	{MachineCapacity, []Level{Objects},
		"a Node's allocatable cpu, memory and disk",
		"the size of the machine"},
}
