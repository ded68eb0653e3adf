package reenact

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/csisim/csisim/internal/incident/fields"
	"github.com/csisim/csisim/internal/incident/messages"
	"github.com/csisim/csisim/internal/world/lazyregexp"
	"github.com/csisim/csisim/internal/world/trace"
)

// Story is the content of an imported trace that a scenario can reproduce.
type Story struct {
	// Command is the command line of a real driver that replaces the mock. It gives its own
	// answers, and provisions the volumes that exist when the story begins.
	Command []string

	cast    *cast
	script  *script
	turns   []turn
	seen    map[string]bool // programs on nodes
	objects map[string]map[string]any
	ended   time.Duration
	pending []deferred
	nodeOf  map[string]string // the node that the scheduler chose, by pod
}

// turn is a restart, or a loss of power.
type turn struct {
	at   time.Duration
	step string
}

// deferred is a failure that only a message shows.
type deferred struct {
	at place
	a  answers
}

// longest is the longest line of a trace that is read.
const longest = 16 << 20

// Read reads a trace in JSON Lines.
func Read(from io.Reader) (*Story, error) {
	s := &Story{cast: newCast(), script: newScript(), seen: map[string]bool{}, objects: map[string]map[string]any{}, nodeOf: map[string]string{}}
	scanner := bufio.NewScanner(from)
	scanner.Buffer(make([]byte, 1<<16), longest)
	for n := 1; scanner.Scan(); n++ {
		if bytes.Contains(scanner.Bytes(), []byte(`"k":"log"`)) && !bytes.Contains(scanner.Bytes(), []byte(`"ev":`)) {
			continue
		}
		var l trace.Line
		if err := json.Unmarshal(scanner.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("line %d is not an event of a trace: %w", n, err)
		}
		s.line(&l)
	}
	if err := scanner.Err(); err != nil {
		return nil, fmt.Errorf("read the trace: %w", err)
	}
	s.finish()
	return s, nil
}

func (s *Story) line(l *trace.Line) {
	s.ended = max(s.ended, l.At()+time.Duration(l.Ms)*time.Millisecond)
	if l.Node != "" && (l.K == trace.Call || l.From == "kubelet") {
		s.cast.nodes[l.Node] = true
	}
	switch l.K {
	case trace.API:
		s.change(l)
	case trace.Call:
		s.call(l)
	case trace.Log:
		s.message(l, textsOf(l.Obj), messages.Meaning(l.Ev))
	case trace.KubeEvent:
		s.event(l)
	}
}

// call adds a call of a driver.
func (s *Story) call(l *trace.Line) {
	rpc := path.Base(l.M)
	if l.Driver != "" {
		if s.cast.methods[l.Driver] == nil {
			s.cast.methods[l.Driver] = map[string]bool{}
		}
		s.cast.methods[l.Driver][rpc] = true
	}
	node := cmp.Or(fields.Text(l.Req, "node_id"), l.Node)
	if node == "" && strings.HasPrefix(rpc, "Node") {
		node = someNode
	}
	v := s.called(l, rpc)
	s.changed(v, rpc, l.At())
	s.snapshotCall(l, rpc, v)
	if node != "" && v != nil {
		s.cast.nodes[node] = true
		s.used(v, node, rpc, l.At(), podUIDIn(fields.Text(l.Req, "target_path")))
	}
	if isOfVolume[rpc] {
		s.script.call(l, node)
	}
}

// isOfVolume are the calls that a scenario makes fail.
var isOfVolume = map[string]bool{
	"CreateVolume": true, "DeleteVolume": true, "ControllerPublishVolume": true, "ControllerUnpublishVolume": true, "NodeStageVolume": true,
	"NodeUnstageVolume": true, "NodePublishVolume": true, "NodeUnpublishVolume": true, "ControllerExpandVolume": true, "NodeExpandVolume": true,
	"CreateSnapshot": true, "DeleteSnapshot": true, "CreateVolumeGroupSnapshot": true, "DeleteVolumeGroupSnapshot": true,
}

// called returns the volume of a call.
func (s *Story) called(l *trace.Line, rpc string) *volume {
	if rpc != "CreateVolume" {
		return s.cast.volume(fields.Text(l.Req, "volume_id"), "", "", l.Driver)
	}
	claim := ""
	if name := fields.Text(l.Req, "parameters", "csi.storage.k8s.io/pvc/name"); name != "" {
		claim = fields.Text(l.Req, "parameters", "csi.storage.k8s.io/pvc/namespace") + "/" + name
	}
	v := s.cast.volume(fields.Text(l.Resp, "volume", "volume_id"), fields.Text(l.Req, "name"), claim, l.Driver)
	if v != nil {
		s.provisioned(v, l.At())
		v.size = cmp.Or(v.size, bytesOf(l.Req))
	}
	return v
}

// rpcs are the calls of operations.
var rpcs = map[string]string{
	"provision": "CreateVolume", "delete": "DeleteVolume", "attach": "ControllerPublishVolume", "detach": "ControllerUnpublishVolume",
	"stage": "NodeStageVolume", "publish": "NodePublishVolume", "unpublish": "NodeUnpublishVolume", "unstage": "NodeUnstageVolume", "resize": "ControllerExpandVolume", "node resize": "NodeExpandVolume",
	"snapshot": "CreateSnapshot", "snapshot delete": "DeleteSnapshot",
	"group snapshot": "CreateVolumeGroupSnapshot", "group snapshot delete": "DeleteVolumeGroupSnapshot",
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

// event adds the fact of an Event.
func (s *Story) event(l *trace.Line) {
	means, fields := messages.OfEvent(l.M, l.Msg, l.Name)
	if node := assigned().FindStringSubmatch(l.Msg); l.M == "Scheduled" && node != nil {
		s.nodeOf[fields["pod"]] = node[1]
	}
	if l.Node == "" {
		l.Node = s.nodeOf[fields["pod"]]
	}
	s.message(l, fields, means)
}

var assigned = lazyregexp.New(`Successfully assigned \S+ to (\S+)$`)

// message adds the fact of a message.
func (s *Story) message(l *trace.Line, fields map[string]string, means messages.Meaning) {
	key := l.From + " " + l.Node
	if means == messages.ProgramStarted && s.seen[key] {
		s.restart(l)
	}
	s.seen[key] = true
	rpc := rpcs[cmp.Or(fields["tried"], means.Operation())]
	v := s.cast.volume(cmp.Or(fields["volume"], fields["unique"]), fields["pv"], fields["pvc"], fields["driver"])
	if content := fields["snapshot"]; content != "" {
		s.snapshotMessage(l, content, rpc)
		s.failed(l, fields, place{rpc, "", fields["driver"]}, means)
		return
	}
	if content := fields["group"]; content != "" {
		s.groupMessage(l, content, rpc)
		s.failed(l, fields, place{rpc, "", fields["driver"]}, means)
		return
	}
	node := cmp.Or(fields["node"], l.Node)
	if node == "" && strings.HasPrefix(rpc, "Node") {
		node = someNode // the log does not name it
	}
	if rpc == "" || v == nil {
		return
	}
	if rpc == "CreateVolume" {
		s.provisioned(v, l.At())
	}
	s.changed(v, rpc, l.At())
	s.placed(l, fields, v, node, rpc)
	s.failed(l, fields, place{rpc, node, v.driver}, means)
}

// failed notes the failure of a call that a message shows.
func (s *Story) failed(l *trace.Line, fields map[string]string, at place, means messages.Meaning) {
	if strings.HasSuffix(string(means), "failed") && fields["code"] != "" {
		s.pending = append(s.pending, deferred{at, answers{code: fields["code"], message: fields["error"], first: l.At()}})
	}
}

// bytesOf returns the size in a request for a volume; "" if it has none.
func bytesOf(request map[string]any) string {
	switch size := fields.At(request, "capacity_range", "required_bytes").(type) {
	case string:
		return size
	case float64:
		return strconv.FormatInt(int64(size), 10)
	}
	return ""
}

// provisioned notes that a volume is made during the story.
func (s *Story) provisioned(v *volume, at time.Duration) {
	if !v.isNew {
		v.isNew, v.madeAt = true, at
	}
}

// changed records that a volume is deleted or expanded, because of a change of its claim.
func (s *Story) changed(v *volume, rpc string, at time.Duration) {
	switch {
	case v == nil:
	case rpc == "DeleteVolume" && v.deleted == 0:
		v.deleted = max(at, 1)
	case rpc == "ControllerExpandVolume" && v.grown == 0:
		v.grown = max(at, 1)
	case rpc == "NodeExpandVolume" && v.grown == 0:
		v.grown = max(at, 1)
		s.ended = max(s.ended, at+nodeExpands)
	}
}

// nodeExpands is the time in which a kubelet expands a mounted volume.
const nodeExpands = 3 * time.Minute

// placed notes the nodes of a message.
func (s *Story) placed(l *trace.Line, fields map[string]string, v *volume, node, rpc string) {
	if node != "" {
		s.cast.nodes[node] = true
		s.named(fields, v, node, l.At())
		s.used(v, node, rpc, l.At(), fields["podUID"])
	}
	if holder := strings.Trim(fields["attachedTo"], `[]" `); holder != "" && !strings.ContainsAny(holder, ", ") {
		s.cast.nodes[holder] = true
		s.used(v, holder, "NodeUnstageVolume", l.At(), "")
	}
}

// named notes the name of a pod that a message has.
func (s *Story) named(fields map[string]string, v *volume, node string, at time.Duration) {
	name, uid := fields["pod"], fields["podUID"]
	if name == "" {
		return
	}
	if !strings.Contains(name, "/") {
		name = "default/" + name
	}
	if uid != "" {
		s.cast.uids[uid] = name
	}
	s.cast.pod(name, at).uses(v, node)
}

// someNode is the node of a log that does not name its node.
const someNode = "node-a"

// undoes are the calls that follow the end of a pod.
var undoes = map[string]bool{"NodeUnpublishVolume": true, "NodeUnstageVolume": true, "ControllerUnpublishVolume": true}

// used notes that a volume is used on a node. If no known pod uses it there, a pod is invented. A
// call that releases the volume means that this pod ends; any other call means that it starts.
func (s *Story) used(v *volume, node, rpc string, at time.Duration, uid string) {
	if s.cast.on(v, node) {
		s.release(v, node, rpc, at)
		return
	}
	name := cmp.Or(s.cast.uids[uid], "default/pod-on-"+node)
	if uid != "" && s.cast.uids[uid] == "" {
		name = "default/pod-" + uid
	}
	p := s.cast.pod(name, at)
	p.uses(v, node)
	if undoes[rpc] {
		p.isOld = true
		s.release(v, node, rpc, at)
	}
}

// release notes that the pods of a volume on a node have been deleted.
func (s *Story) release(v *volume, node, rpc string, at time.Duration) {
	if !undoes[rpc] {
		return
	}
	for _, p := range s.cast.ordered() {
		if p.node == node && p.deleted == 0 && (p.isOld || p.created < at) && has(p, v) {
			p.deleted = max(at, 1)
		}
	}
}

func has(p *pod, v *volume) bool {
	for _, known := range p.volumes {
		if known == v {
			return true
		}
	}
	return false
}

// restart adds the restart of a component.
func (s *Story) restart(l *trace.Line) {
	switch {
	case l.From == "kubelet" && l.Node != "":
		s.turns = append(s.turns, turn{l.At(), "restart-kubelet: " + l.Node})
	case l.From == "kube-controller-manager", strings.HasPrefix(l.From, "csi-") && strings.HasSuffix(l.From, "er"), l.From == "snapshot-controller":
		s.turns = append(s.turns, turn{l.At(), "restart-controller: " + l.From})
	}
}

// finish adds failures that only messages show, because the trace lacks the calls.
func (s *Story) finish() {
	for _, d := range s.pending {
		known := false
		for at := range s.script.fromCalls { // in any order: one is enough
			known = known || at.method == d.at.method && (at.node == d.at.node || d.at.node == "")
		}
		if !known {
			s.script.add(d.at, d.a, d.a.first)
		}
	}
}

// podUIDIn returns the uid of the pod in a target path; empty if it has none.
func podUIDIn(target string) string {
	_, rest, found := strings.Cut(target, "/pods/")
	if !found {
		return ""
	}
	uid, _, _ := strings.Cut(rest, "/")
	return uid
}
