package explain

import (
	"cmp"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/csisim/csisim/internal/incident/messages"
	"github.com/csisim/csisim/internal/world/trace"
)

// fact is the content of a recognized message.
type fact struct {
	means  messages.Meaning
	fields map[string]string
	at     time.Duration
	by     string
	node   string
	seen   Place
	code   string
	isCall bool
	// isOfDriver means that a driver reports it.
	isOfDriver bool
}

// log adds the fact of a line of a log.
func (s *Story) log(l *trace.Line) {
	if l.Ev == "" {
		return
	}
	f := fact{means: messages.Meaning(l.Ev), fields: textsOf(l.Obj), at: l.At(), by: l.From, node: l.Node, seen: Place{l.Seq, l.Src}}
	f.code = f.fields["code"]
	s.happened(&f)
	s.fact(&f)
}

func textsOf(object any) map[string]string {
	texts := map[string]string{}
	fields, _ := object.(map[string]any)
	for name, value := range fields { // in any order: names differ
		if text, ok := value.(string); ok {
			texts[name] = text
		}
	}
	return texts
}

// fact adds a fact to its operation.
func (s *Story) fact(f *fact) {
	v := s.volumeOf(f)
	switch f.means {
	case messages.Registered, messages.RegisterFailed, messages.Unregistered:
		s.registration(f)
		return
	case messages.MountLeft:
		s.remained(f)
		return
	case messages.VolumesAwaited, messages.VolumesMounted:
		s.podWaits(f)
		return
	}
	if v == nil {
		return
	}
	step, ok := steps[f.means]
	if !ok {
		return
	}
	if f.means == messages.AttachFailed && f.fields["tried"] == "detach" {
		step.kind = "detach"
	}
	o := s.operation(step.kind, v, s.placeOf(step.kind, f, v))
	s.note(o, f, v)
	s.attach(v, o.Node)
	switch step.phase {
	case started:
		o.start(f)
	case succeeded:
		o.succeed(f)
	case failed:
		o.fail(f)
	case refused:
		o.fail(f)
		o.HeldBy = cmp.Or(f.fields["attachedTo"], o.HeldBy)
		o.Code = "Multi-Attach"
	case forced:
		o.start(f)
		o.IsForced = true
	case postponed:
		o.fail(f)
		o.Code, o.Error = "Waiting", "still mounted"
	case missed:
		o.fail(f)
		o.Error = cmp.Or(o.Error, notListed)
	}
}

// phase is the state of an operation after a message.
type phase int

const (
	started phase = iota
	succeeded
	failed
	refused
	forced
	postponed
	missed
)

// notListed is the kubelet's error for a missing attachment without any other reason.
const notListed = "the status of the Node does not list it"

// steps maps the meanings of messages to operations.
var steps = map[messages.Meaning]struct {
	kind  string
	phase phase
}{
	messages.ProvisionStarted: {"provision", started}, messages.Provisioned: {"provision", succeeded}, messages.ProvisionFailed: {"provision", failed},
	messages.DeleteStarted: {"delete", started}, messages.Deleted: {"delete", succeeded}, messages.DeleteFailed: {"delete", failed},
	messages.AttachStarted: {"attach", started}, messages.Attached: {"attach", succeeded}, messages.AttachFailed: {"attach", failed}, messages.MultiAttach: {"attach", refused},
	messages.DetachStarted: {"detach", started}, messages.Detached: {"detach", succeeded}, messages.DetachFailed: {"detach", failed}, messages.DetachForced: {"detach", forced},
	messages.DetachWaits:      {"detach", postponed},
	messages.AttachmentMissed: {"await", missed}, messages.AttachmentSeen: {"await", succeeded},
	messages.Staged: {"stage", succeeded}, messages.StageFailed: {"stage", failed},
	messages.MountStarted: {"publish", started}, messages.Published: {"publish", succeeded}, messages.PublishFailed: {"publish", failed},
	messages.UnpublishStarted: {"unpublish", started}, messages.Unpublished: {"unpublish", succeeded}, messages.UnpublishFailed: {"unpublish", failed},
	messages.UnstageStarted: {"unstage", started}, messages.Unstaged: {"unstage", succeeded}, messages.UnstageFailed: {"unstage", failed},
	messages.ResizeStarted: {"resize", started}, messages.Resized: {"resize", succeeded}, messages.ResizeFailed: {"resize", failed},
	messages.NodeResized: {"node resize", succeeded}, messages.NodeResizeFailed: {"node resize", failed},
	messages.SnapshotStarted: {"snapshot", started}, messages.Snapshotted: {"snapshot", succeeded}, messages.SnapshotFailed: {"snapshot", failed}, messages.SnapshotDeleteFailed: {"snapshot delete", failed},
	messages.GroupSnapshotStarted: {"group snapshot", started}, messages.GroupSnapshotted: {"group snapshot", succeeded}, messages.GroupSnapshotFailed: {"group snapshot", failed}, messages.GroupSnapshotDeleteFailed: {"group snapshot delete", failed},
}

// volumeOf returns the volume of a fact; nil if it names none.
func (s *Story) volumeOf(f *fact) *Volume {
	claim := f.fields["pvc"]
	if claim == "" && f.by == "csi-resizer" {
		claim = f.fields["key"]
	}
	handle := cmp.Or(f.fields["volume"], f.fields["unique"])
	if strings.HasPrefix(handle, "{") { // kube-controller-manager has printed the whole structure
		handle = ""
	}
	if snapshot := f.fields["snapshot"]; snapshot != "" {
		claim = ofSnapshot + snapshot
	}
	if group := f.fields["group"]; group != "" {
		claim = ofGroup + group
	}
	v := s.names.volume(byHandle+handle, byPV+f.fields["pv"], byClaim+claim, byAttachment+f.fields["attachment"])
	if v != nil {
		name, isDriver := s.driverOf(f.by)
		f.isOfDriver = isDriver
		v.Driver = cmp.Or(f.fields["driver"], v.Driver, name)
	}
	return v
}

// placeOf returns the place of an operation: attachments belong to nodes, mounts to nodes and pods.
func (s *Story) placeOf(kind string, f *fact, v *Volume) string {
	node := cmp.Or(f.fields["node"], f.node)
	switch kind {
	case "attach", "detach":
		return cmp.Or(f.fields["node"], v.Attachments[f.fields["attachment"]])
	case "stage", "unstage", "await", "node resize":
		return node
	case "publish", "unpublish":
		return node + " " + f.fields["podUID"]
	}
	return ""
}

// note completes the names of an operation.
func (s *Story) note(o *Operation, f *fact, v *Volume) {
	o.Volume = v
	switch o.Kind {
	case "attach", "detach":
		o.Node = cmp.Or(f.fields["node"], o.Node, v.Attachments[f.fields["attachment"]])
	case "stage", "unstage", "publish", "unpublish", "await", "node resize":
		o.Node = cmp.Or(f.fields["node"], f.node, o.Node)
	}
	if uid := f.fields["podUID"]; uid != "" {
		if name := f.fields["pod"]; name != "" && !strings.HasSuffix(s.podNames[uid], "/"+name) {
			s.podNames[uid] = name
		}
		o.Pod = cmp.Or(s.podNames[uid], o.Pod, uid)
	} else if name := f.fields["pod"]; name != "" {
		o.Pod = name
	}
	o.By = cmp.Or(o.By, f.by)
}

func (o *Operation) start(f *fact) {
	if o.IsDone || o.Failures == 0 && !o.IsRunning && o.Open == nil {
		*o = Operation{Kind: o.Kind, Volume: o.Volume, Node: o.Node, Pod: o.Pod, By: f.by, Began: f.at, First: f.seen}
	}
	o.IsRunning, o.Last, o.Seen, o.Next = true, f.at, f.seen, 0
}

func (o *Operation) succeed(f *fact) {
	if o.First == (Place{}) {
		o.Began, o.First = f.at, f.seen
	}
	o.IsDone, o.IsRunning, o.Failures, o.Last, o.Seen = true, false, 0, f.at, f.seen
	o.Open, o.InUse, o.counts = nil, 0, nil
	o.Code, o.Error, o.Next = "", "", 0
}

func (o *Operation) fail(f *fact) {
	if o.IsDone || o.First == (Place{}) {
		o.Began, o.First, o.Failures, o.counts = f.at, f.seen, 0, nil
	}
	o.IsDone, o.IsRunning = false, false
	o.isOfDriver = f.isOfDriver
	o.count(f)
	o.Last, o.Seen = f.at, f.seen
	if text := f.fields["error"]; text != "" {
		o.Code, o.Error = cmp.Or(f.code, "Error"), text
	}
	if o.Code == "Aborted" {
		o.InUse++
	}
	if wait, err := time.ParseDuration(f.fields["backoff"]); err == nil {
		o.Next = f.at + wait
	}
}

// driverOf returns the driver name of a program, and reports whether the program is a driver. The
// name is empty if the driver has several.
func (s *Story) driverOf(program string) (name string, isDriver bool) {
	t, known := s.tables[program]
	if !known {
		t = messages.Named(program)
		s.tables[program] = t
	}
	if t == nil {
		return "", false
	}
	return t.Driver, t.IsDriver
}

// count counts a failure. Several programs report the same failure in different words. The program
// with the most reports counts.
func (o *Operation) count(f *fact) {
	if o.counts == nil {
		o.counts = map[string]int{}
	}
	source := f.by
	if f.isCall {
		source = "call of " + f.by
	}
	o.counts[source]++
	o.Failures = max(o.Failures, o.counts[source])
	// Since before the logs begin.
	if before, err := strconv.Atoi(f.fields["failures"]); err == nil {
		o.Failures = max(o.Failures, before+1)
	}
}

// registration notes whether a driver is registered on a node.
func (s *Story) registration(f *fact) {
	driver := cmp.Or(f.fields["driver"], driverOfSocket(f.fields["operation"]))
	why, refused := refusedIn(f.fields["status"])
	failed := f.means == messages.RegisterFailed || refused
	if f.means == messages.Registered && !failed { // a registrar that did not know its driver yet
		delete(s.registered, [2]string{"", f.node})
	}
	if driver == "" && !failed {
		return
	}
	r := registration{isRegistered: !failed && f.means == messages.Registered, failed: failed, at: f.at, seen: f.seen, why: cmp.Or(f.fields["error"], why)}
	s.registered[[2]string{driver, f.node}] = r
}

// refusedIn returns the error in the status that the kubelet sends to a registrar, if the kubelet
// refuses the driver.
func refusedIn(status string) (why string, refused bool) {
	_, why, refused = strings.Cut(status, "PluginRegistered:false,Error:")
	return strings.TrimSuffix(why, ",}"), refused
}

// driverOfSocket returns the name of a driver in the path of its registration socket.
func driverOfSocket(socket string) string {
	name, isSocket := strings.CutSuffix(path.Base(socket), "-reg.sock")
	if !isSocket {
		return ""
	}
	return name
}

// podWaits records that a pod waits for its volumes, or no longer waits.
func (s *Story) podWaits(f *fact) {
	name := f.fields["pod"]
	if name == "" {
		return
	}
	p := s.pod(name)
	p.node = cmp.Or(f.node, p.node)
	waits := f.means == messages.VolumesAwaited
	if waits && !p.waits {
		p.since = f.at
	}
	p.waits, p.seen = waits, f.seen
	p.reason = f.fields["error"]
}

func (s *Story) pod(name string) *pod {
	if !strings.Contains(name, "/") {
		name = "default/" + name
	}
	p := s.pods[name]
	if p == nil {
		p = &pod{name: name}
		s.pods[name] = p
	}
	return p
}
