package messages

// Meaning is the fact that a message states: a word for the operation and one for its state.
type Meaning string

// The meanings of messages.
const (
	None Meaning = "" // of no further interest

	ProvisionStarted Meaning = "provision started"
	Provisioned      Meaning = "provision succeeded"
	ProvisionFailed  Meaning = "provision failed"
	DeleteStarted    Meaning = "delete started"
	Deleted          Meaning = "delete succeeded"
	DeleteFailed     Meaning = "delete failed"
	Bound            Meaning = "bind succeeded"
	Released         Meaning = "volume released"

	AttachStarted Meaning = "attach started"
	Attached      Meaning = "attach succeeded"
	AttachFailed  Meaning = "attach failed"
	MultiAttach   Meaning = "attach refused"
	DetachStarted Meaning = "detach started"
	Detached      Meaning = "detach succeeded"
	DetachFailed  Meaning = "detach failed"
	DetachForced  Meaning = "detach forced"
	DetachWaits   Meaning = "detach postponed"

	AttachAwaited    Meaning = "attachment awaited"
	AttachmentMissed Meaning = "attachment missed"
	AttachmentSeen   Meaning = "attachment seen"
	MountStarted     Meaning = "mount started"
	Staged           Meaning = "stage succeeded"
	StageFailed      Meaning = "stage failed"
	Published        Meaning = "publish succeeded"
	PublishFailed    Meaning = "publish failed"
	VolumesAwaited   Meaning = "volumes awaited"
	VolumesMounted   Meaning = "volumes mounted"
	UnpublishStarted Meaning = "unpublish started"
	Unpublished      Meaning = "unpublish succeeded"
	UnpublishFailed  Meaning = "unpublish failed"
	UnstageStarted   Meaning = "unstage started"
	Unstaged         Meaning = "unstage succeeded"
	UnstageFailed    Meaning = "unstage failed"
	MountLeft        Meaning = "mount left"
	Reconstructed    Meaning = "volume reconstructed"

	ResizeStarted    Meaning = "resize started"
	Resized          Meaning = "resize succeeded"
	ResizeFailed     Meaning = "resize failed"
	NodeResized      Meaning = "node resize succeeded"
	NodeResizeFailed Meaning = "node resize failed"

	SnapshotStarted      Meaning = "snapshot started"
	Snapshotted          Meaning = "snapshot succeeded"
	SnapshotFailed       Meaning = "snapshot failed"
	SnapshotDeleteFailed Meaning = "snapshot delete failed"

	GroupSnapshotStarted      Meaning = "group snapshot started"
	GroupSnapshotted          Meaning = "group snapshot succeeded"
	GroupSnapshotFailed       Meaning = "group snapshot failed"
	GroupSnapshotDeleteFailed Meaning = "group snapshot delete failed"

	Registered       Meaning = "register succeeded"
	RegisterStarted  Meaning = "register started"
	RegisterFailed   Meaning = "register failed"
	Unregistered     Meaning = "driver unregistered"
	DriverMissing    Meaning = "driver missing"
	ConnectionLost   Meaning = "connection lost"
	ConnectionAwaits Meaning = "connection awaited"

	ProgramStarted Meaning = "program started"
	ProgramEnded   Meaning = "program ended"
	BecameLeader   Meaning = "leadership gained"
	LostLeader     Meaning = "leadership lost"
	Unschedulable  Meaning = "schedule failed"
	Scheduled      Meaning = "schedule succeeded"
	CallRunning    Meaning = "call still running"

	// The parts of a call of a driver.
	CallBegins  Meaning = "call begins"   // with {method}, and possibly {request}
	CallRequest Meaning = "call request"  // with {request}
	CallAnswer  Meaning = "call answer"   // with {response}, and possibly {error}
	CallError   Meaning = "call error"    // with {error}
	CallWhole   Meaning = "call repeated" // with {call}: method, request and answer in JSON

	// The connection that the kubelet opens for each call, and closes after it.
	CallDials       Meaning = "call dials"       // with {endpoint}
	CallConnects    Meaning = "call connects"    // with {channel} and {endpoint}
	CallDisconnects Meaning = "call disconnects" // with {channel}
)

// Operation returns the part of a meaning that names the operation, such as "attach".
func (m Meaning) Operation() string {
	for i := len(m) - 1; i >= 0; i-- {
		if m[i] == ' ' {
			return string(m[:i])
		}
	}
	return string(m)
}

// IsCall reports whether the message is a part of a call.
func (m Meaning) IsCall() bool {
	switch m {
	case CallBegins, CallRequest, CallAnswer, CallError, CallWhole:
		return true
	}
	return false
}

// IsConnection reports whether the message is about a connection, even if it does not belong to a
// call.
func (m Meaning) IsConnection() bool {
	return m == CallDials || m == CallConnects || m == CallDisconnects
}
