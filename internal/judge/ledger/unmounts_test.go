package ledger_test

import (
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/judge/ledger"
	"github.com/csisim/csisim/internal/world/trace"
)

const (
	staging = "/var/lib/kubelet/plugins/kubernetes.io/csi/a/h/globalmount"
	target  = "/var/lib/kubelet/pods/u/volumes/kubernetes.io~csi/pv/mount"
	byHand  = "/var/lib/kubelet/data"
	subpath = "/var/lib/kubelet/pods/u/volume-subpaths/pv/c/0"
)

// node is one node with its calls.
type node struct {
	unmounts *ledger.Unmounts
	mounts   []string
	missing  []ledger.Missing
	byHand   map[string]bool // mounts that the kubelet itself unmounts
	others   map[string]bool // mounts of an administrator
	got      []string
}

func newNode() *node { return &node{unmounts: ledger.NewUnmounts(), byHand: map[string]bool{}} }

func (n *node) look() {
	view := ledger.View{Mounts: append([]string(nil), n.mounts...), Missing: append([]ledger.Missing(nil), n.missing...), ByHand: n.others}
	for _, u := range n.unmounts.Saw("n", view, func(target string, _ uint64) bool { return n.byHand[target] }) {
		n.got = append(n.got, u.On("n"))
	}
}

func (n *node) begin(call *trace.Event) *trace.Event {
	n.look()
	n.unmounts.Began("n", call, call.At+time.Minute)
	return call
}

func (n *node) end(call *trace.Event, code string) {
	if call.Code = code; code == "" {
		call.Response = &csi.NodePublishVolumeResponse{} // of any kind
	}
	n.look()
	n.unmounts.Ended("n", call)
}

// call makes a call during which something happens.
func (n *node) call(call *trace.Event, does func()) {
	n.begin(call)
	does()
	n.end(call, "")
}

// start starts a driver, which does something meanwhile.
func (n *node) start(driver string, does func()) {
	n.look()
	does()
	for _, u := range n.unmounts.Started("n", driver, ledger.View{Mounts: append([]string(nil), n.mounts...), ByHand: n.others}) {
		n.got = append(n.got, u.On("n"))
	}
}

func (n *node) mount(target string) func() { return func() { n.mounts = append(n.mounts, target) } }

func (n *node) unmount(targets ...string) func() {
	return func() {
		for _, target := range targets {
			for i, there := range n.mounts {
				if there == target {
					n.mounts = append(n.mounts[:i:i], n.mounts[i+1:]...)
					break
				}
			}
		}
	}
}

func stage(driver, volume string) *trace.Event {
	return trace.Entry{Kind: trace.Call, Driver: driver, Method: "Node/NodeStageVolume", Request: &csi.NodeStageVolumeRequest{VolumeId: volume, StagingTargetPath: staging}}.Event()
}

func unstage(driver, volume string) *trace.Event {
	return trace.Entry{Kind: trace.Call, Driver: driver, Method: "Node/NodeUnstageVolume", Request: &csi.NodeUnstageVolumeRequest{VolumeId: volume, StagingTargetPath: staging}}.Event()
}

func publish(driver, volume string) *trace.Event {
	return trace.Entry{Kind: trace.Call, Driver: driver, Method: "Node/NodePublishVolume", Request: &csi.NodePublishVolumeRequest{VolumeId: volume, TargetPath: target}}.Event()
}

func unpublish(driver, volume string) *trace.Event {
	return trace.Entry{Kind: trace.Call, Driver: driver, Method: "Node/NodeUnpublishVolume", Request: &csi.NodeUnpublishVolumeRequest{VolumeId: volume, TargetPath: target}}.Event()
}

func asks(driver string) *trace.Event {
	return trace.Entry{Kind: trace.Call, Driver: driver, Method: "Node/NodeGetInfo", Request: &csi.NodeGetInfoRequest{}}.Event()
}

func TestForeignUnmountsAreReported(t *testing.T) {
	for name, test := range map[string]struct {
		happens func(*node)
		got     []string
	}{
		"a driver that is called unmounts the mount of an administrator": {func(n *node) {
			n.mounts, n.others = []string{byHand}, map[string]bool{byHand: true}
			n.call(publish("a", "v"), n.unmount(byHand))
		}, []string{"driver a unmounted " + byHand + " on n, a mount of an administrator, during NodePublishVolume of volume v"}},
		"a driver that starts unmounts the mount of an administrator": {func(n *node) {
			n.mounts, n.others = []string{byHand}, map[string]bool{byHand: true}
			n.start("a", n.unmount(byHand))
		}, []string{"driver a unmounted " + byHand + " on n, a mount of an administrator, when it was started again"}},
		"a driver that is called unmounts its own": {func(n *node) {
			n.call(unstage("a", "v"), n.unmount(staging))
		}, nil},
		"its own driver does when it starts": {func(n *node) {
			n.start("a", n.unmount(staging))
			n.start("a", func() {})
		}, []string{"driver a unmounted " + staging + " on n, a mount of driver a (NodeStageVolume of volume v), when it was started again"}},
		"a starting driver removes leftovers of a call that was cut off": {func(n *node) {
			n.begin(publish("a", "v"))
			n.mount(target)()
			n.start("a", n.unmount(target))
		}, nil},
		"a starting driver finishes a call that it did not answer": {func(n *node) {
			n.end(n.begin(unstage("a", "v")), "Unavailable")
			n.start("a", n.unmount(staging))
		}, nil},
		"one that starts takes off the second mount at a path": {func(n *node) {
			n.call(publish("a", "v"), n.mount(target))
			n.mount(target)()
			n.start("a", n.unmount(target))
		}, nil},
		"a driver unmounts another one's staged volume": {func(n *node) {
			n.call(publish("b", "w"), n.unmount(staging))
		}, []string{"driver b unmounted " + staging + " on n, a mount of driver a (NodeStageVolume of volume v), during NodePublishVolume of volume w"}},
		"a mount covered by a second mount at a target ends with that": {func(n *node) {
			n.call(publish("a", "v"), n.mount(target))
			n.call(publish("a", "v"), func() { n.mount(target)(); n.mount(staging)() })
			n.call(unpublish("a", "v"), n.unmount(target, staging))
		}, nil},
		"the same for a late second mount, after another call had mounted": {func(n *node) {
			n.end(n.begin(publish("a", "v")), "DeadlineExceeded")
			n.call(publish("a", "v"), n.mount(target))
			n.mount(target)()
			n.mount(staging)()
			n.call(unpublish("a", "v"), n.unmount(target, staging))
		}, nil},
		"the same for a second mount with a repeated call meanwhile": {func(n *node) {
			n.begin(publish("a", "v"))
			again := publish("a", "v")
			again.At = time.Hour
			n.call(again, n.mount(target))
			n.mount(target)()
			n.mount(staging)()
			n.call(asks("a"), func() {})
			n.call(unpublish("a", "v"), n.unmount(target, staging))
		}, nil},
		"the covered mount ends unobserved, and the second one later": {func(n *node) {
			n.call(publish("a", "v"), n.mount(target))
			n.call(publish("a", "v"), func() { n.mount(target)(); n.mount(staging)() })
			n.unmount(target, target, staging)()
			n.unmounts.Reset("n", ledger.View{Mounts: append([]string(nil), n.mounts...)})
			n.call(asks("b"), n.unmount(staging))
		}, []string{"driver b unmounted " + staging + " on n, a mount of driver a (NodeStageVolume of volume v), during NodeGetInfo"}},
		"one of two mounts at a staging path goes": {func(n *node) {
			n.call(asks("a"), n.mount(staging))
			n.call(asks("a"), n.unmount(staging))
		}, []string{"driver a unmounted " + staging + " on n, a mount of driver a (NodeStageVolume of volume v), during NodeGetInfo"}},
		"mounts below a staging path belong to the driver that staged": {func(n *node) {
			n.call(stage("a", "v"), n.mount(staging+"/v"))
			n.call(asks("b"), n.unmount(staging+"/v"))
		}, []string{"driver b unmounted " + staging + "/v on n, a mount of driver a (NodeStageVolume of volume v), during NodeGetInfo"}},
		"two calls are under way, and one of them does it": {func(n *node) {
			one := n.begin(asks("b"))
			n.call(publish("c", "w"), n.unmount(staging))
			n.end(one, "")
		}, []string{staging + " on n, a mount of driver a (NodeStageVolume of volume v), was unmounted during one of these calls: NodeGetInfo of driver b; NodePublishVolume of volume w of driver c"}},
		"its own driver has such a call at the same time": {func(n *node) {
			one := n.begin(asks("b"))
			n.call(unstage("a", "v"), n.unmount(staging))
			n.end(one, "")
		}, nil},
		"its own driver does it late, during a call of another": {func(n *node) {
			n.end(n.begin(unstage("a", "v")), "DeadlineExceeded")
			n.call(asks("b"), n.unmount(staging))
		}, nil},
		"its own driver does it late, when it is staged anew": {func(n *node) {
			n.end(n.begin(unstage("a", "v")), "DeadlineExceeded")
			n.call(stage("a", "v"), func() {})
			n.call(asks("b"), n.unmount(staging))
		}, nil},
		"an unstage that was refused changes nothing": {func(n *node) {
			n.end(n.begin(unstage("a", "v")), "Internal")
			n.call(stage("a", "v"), func() {})
			n.call(asks("b"), n.unmount(staging))
		}, []string{"driver b unmounted " + staging + " on n, a mount of driver a (NodeStageVolume of volume v), during NodeGetInfo"}},
		"a call without its caller does not stay suspect for ever": {func(n *node) {
			n.begin(asks("b"))
			late := publish("c", "w")
			late.At = time.Hour
			n.call(late, n.unmount(staging))
		}, []string{"driver c unmounted " + staging + " on n, a mount of driver a (NodeStageVolume of volume v), during NodePublishVolume of volume w"}},
		"the kubelet unmounts a subpath": {func(n *node) {
			n.byHand[subpath] = true
			n.call(publish("b", "w"), n.unmount(subpath))
		}, nil},
		"a driver unmounts a subpath": {func(n *node) {
			n.call(publish("b", "w"), n.unmount(subpath))
		}, []string{"driver b unmounted " + subpath + " on n, a mount of the kubelet, during NodePublishVolume of volume w"}},
		"between calls there is no suspect": {func(n *node) {
			n.unmount(staging, subpath)()
			n.call(publish("b", "w"), func() {})
		}, nil},
		"the node loses its power in a call": {func(n *node) {
			one := n.begin(publish("b", "w"))
			n.mounts = nil
			n.unmounts.Reset("n", ledger.View{})
			n.end(one, "Unavailable")
		}, nil},
		"a mount covers another and goes": {func(n *node) {
			n.call(stage("a", "v"), n.mount(staging))
			n.call(unstage("a", "v"), n.unmount(staging))
			n.call(asks("b"), func() {})
		}, nil},
		"a program unmounts a mount of its node": {func(n *node) {
			n.begin(asks("b"))
			n.call(publish("c", "w"), func() { n.missing = []ledger.Missing{{Target: "/var/lib/kubelet", Driver: "c"}} })
		}, []string{"driver c unmounted /var/lib/kubelet on n, a mount of the node, during NodePublishVolume of volume w"}},
		"a program does that while only others are called": {func(n *node) {
			n.call(asks("b"), func() { n.missing = []ledger.Missing{{Target: "/var/lib/kubelet", Driver: "c"}} })
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode()
			n.call(stage("a", "v"), n.mount(staging))
			n.mount(subpath)()
			test.happens(n)
			assert.Equal(t, test.got, n.got)
		})
	}
}
