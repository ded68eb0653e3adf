// Package data writes and reads the volumes of pods. Each container writes a few bytes that
// identify its volume, and reads them again whenever the volume is published again. Thus it detects
// a driver that loses a volume's content or serves the content of another volume.
package data

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"syscall"
	"time"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/ordered"
	"github.com/csisim/csisim/internal/world/volume"
)

// Volume is a driver's volume.
type Volume struct{ Driver, Handle string }

func (v Volume) String() string { return v.Driver + "^" + v.Handle }

// Use is a pod's volume at the path where it is published.
type Use struct {
	Pod     string // namespace/name
	Volume  Volume
	Name    string // name of the PersistentVolume, or of the volume in the pod
	Node    string
	Machine Machine
	// Path is the published directory or device, a node path.
	Path  string
	Block bool
	// Writable means that a container may write.
	Writable bool
	// ForWriting means that the requests to the driver do not contain read-only in any form either:
	// access modes, mount options, attachment.
	ForWriting bool
	// Propagated means that later mounts on the volume appear in all of its containers.
	Propagated bool
}

// Machine is the part of a node that concerns the volumes published there.
type Machine interface {
	IsMountPoint(path string) (bool, error)
	ReadDir(path string) ([]fs.DirEntry, error)
	machine.VolumeFiles
	// ReadStart and WriteStart are machine.Devices'.
	ReadStart(path string, n int) ([]byte, error)
	WriteStart(path string, data []byte) error
}

// Check stores the last writes and compares later reads to them.
type Check struct {
	// OnViolation is called for each violation. Found[0] is the sentence without its title.
	OnViolation func(Use, verdict.Verdict)
	// OnWrite is called when a container has written. Default: none.
	OnWrite func(Use)
	// MayBeReadOnly reports whether something in the run, other than Kubernetes' requests to the
	// driver, may have made a volume read-only. Default: never.
	MayBeReadOnly func(Use) bool
	// Serves reports whether the driver runs on the node: without it, mounted files need not be
	// readable.
	Serves func(driver, node string) bool
	// Now is the time since the start of the run, as in its trace.
	Now func() time.Duration

	made     map[Volume]bool  // empty volumes of this run
	writable map[string]bool  // drivers for which pods have written to a new volume
	written  map[Volume]known // their known content
	reported map[string]bool

	attempts  map[Copy]origin
	snapshots map[Volume]origin // origins of snapshots, by the driver and the snapshot's id
	copies    map[Volume]origin // content that new volumes got from their sources
	replicas  map[Volume]replica
	kept      map[string]kept  // kept directories, by the volume in the content
	marks     map[string]int64 // offsets in devices, by the volume in the content
	uses      map[Volume]Use   // the last ones that wrote
	sources   map[Volume]bool  // volumes of which a copy has begun
}

// known holds the contents of a volume: one or, if each machine has separate content, one for each
// node.
type known = ordered.Map[string, record]

// record describes the last write.
type record struct {
	generation int
	// The volume that the content names, if this volume is a copy without later writes.
	volume    string
	pod, node string
	since     time.Duration // the time of its write
	foreign   bool          // the volume has foreign content, which is not changed
}

// owner returns the volume that the content names.
func (r record) owner(v Volume) string {
	if r.volume != "" {
		return r.volume
	}
	return v.String()
}

func (r record) String() string {
	switch {
	case r.volume != "":
		return fmt.Sprintf("generation %d of volume %s, of which it is a copy", r.generation, r.volume)
	case r.pod == "":
		return fmt.Sprintf("generation %d", r.generation)
	}
	return fmt.Sprintf("generation %d, which pod %s wrote on %s", r.generation, r.pod, r.node)
}

// New returns a check without any observations.
func New() *Check {
	return &Check{
		Now:  func() time.Duration { return 0 },
		made: map[Volume]bool{}, writable: map[string]bool{}, written: map[Volume]known{}, reported: map[string]bool{},
		attempts: map[Copy]origin{}, snapshots: map[Volume]origin{}, copies: map[Volume]origin{}, replicas: map[Volume]replica{}, kept: map[string]kept{}, marks: map[string]int64{}, uses: map[Volume]Use{}, sources: map[Volume]bool{},
	}
}

// created records a new volume. A volume that is created from another one, or from a snapshot, has
// content from the start.
func (c *Check) created(v Volume, empty bool) { c.made[v] = empty }

// deleted records the end of a volume, because its id may be used again.
func (c *Check) deleted(v Volume) {
	delete(c.made, v)
	delete(c.written, v)
	delete(c.uses, v)
	delete(c.sources, v)
	delete(c.copies, v)
	delete(c.replicas, v)
}

// PowerLost forgets content that a node may have lost with its power, because inline volumes need
// not be on a disk.
func (c *Check) PowerLost(node string) {
	maps.DeleteFunc(c.written, func(v Volume, contents known) bool {
		if !volume.IsInlineHandle(v.Handle) {
			return false
		}
		_, its := contents.Find(node)
		shared, isShared := contents.Find("")
		return its || isShared && shared.node == node
	})
}

// Start checks the volume at the start of a pod's containers. It must have the last written
// content. Then, if the pod may write, it writes the next generation.
func (c *Check) Start(u Use) {
	keepView(u)
	if c.Read(u) && u.Writable {
		c.write(u)
	}
}

// Read compares the content to the last write. It reports whether the volume exists and has the
// expected content.
func (c *Check) Read(u Use) bool {
	wrote, isKnown := c.written[u.Volume].Find(place(u))
	if wrote.foreign || c.Serves != nil && !c.Serves(u.Volume.Driver, u.Node) {
		return false
	}
	found := look(u)
	switch {
	// Content of an earlier run.
	case !isKnown && !c.copies[u.Volume].isKnown() && found.generation > 0 && found.volume == u.Volume.String():
		c.remember(u, record{generation: found.generation})
		return true
	case !isKnown:
		return c.fresh(u, found)
	case found.problem == "" && found.volume == wrote.owner(u.Volume) && found.generation == wrote.generation:
		return c.inContainers(u, wrote)
	}
	c.violation(u, wrote.String(), found)
	return false
}

// fresh judges a volume that has not been written to yet.
func (c *Check) fresh(u Use, found content) bool {
	switch {
	case !found.there:
		return false // nothing is mounted here: the driver only pretends to mount
	case c.copies[u.Volume].isKnown() && place(u) == "":
		return c.copied(u, c.copies[u.Volume], found)
	case found.empty:
		return true
	case found.volume != "" && c.made[u.Volume]:
		c.violation(u, "a new volume without content", found)
	}
	c.remember(u, record{foreign: true})
	return false
}

// copied judges a volume that was created from another one, when it is first used.
func (c *Check) copied(u Use, of origin, found content) bool {
	if !of.has(found) {
		expected := record{generation: of.newest, volume: of.volume}
		c.violation(u, expected.String(), found)
		c.remember(u, record{foreign: true})
		return false
	}
	if found.empty {
		return true
	}
	c.compareKept(u, found.volume)
	c.remember(u, record{generation: found.generation, volume: found.volume})
	return true
}

func (c *Check) write(u Use) {
	next := c.written[u.Volume].Get(place(u)).generation + 1
	if err := put(u, next); err != nil { // a volume may be full, or read-only for the pod's node
		c.refused(u, err)
		return
	}
	if c.made[u.Volume] {
		c.writable[u.Volume.Driver] = true
	}
	c.remember(u, record{generation: next, pod: u.Pod, node: u.Node, since: c.Now()})
	c.uses[u.Volume] = u
	if c.OnWrite != nil {
		c.OnWrite(u)
	}
}

// refused judges a volume that a container cannot write to. This is expected if no container could
// write to the volume before. For a new volume, this is also expected if no container could write
// to any new volume of the driver.
func (c *Check) refused(u Use, err error) {
	wrote := c.written[u.Volume].Get(place(u))
	could := wrote.pod != "" || c.made[u.Volume] && c.writable[u.Volume.Driver]
	if !u.ForWriting || !could || !errors.Is(err, syscall.EROFS) || c.MayBeReadOnly != nil && c.MayBeReadOnly(u) {
		return
	}
	has := wrote.String()
	if wrote.pod == "" {
		has = "nothing yet, and other pods could write to theirs"
	}
	c.report(u, lost, fmt.Sprintf("pod %s cannot write its data: volume %s at %s on %s is read-only, which nobody has asked for: it has %s",
		u.Pod, u.Name, u.Path, u.Node, has))
}

func (c *Check) remember(u Use, r record) {
	contents := c.written[u.Volume]
	contents.Set(place(u), r)
	c.written[u.Volume] = contents
}

func (c *Check) violation(u Use, expected string, found content) {
	form := lost
	if found.daemonDied {
		form = daemonDied
	}
	c.report(u, form, fmt.Sprintf("pod %s does not find its data: volume %s at %s on %s: expected %s, found %v",
		u.Pod, u.Name, u.Path, u.Node, expected, found))
}

// The forms of verdicts on data: it is missing, or the daemon that serves it has exited.
const (
	lost       verdict.Form = "data lost"
	daemonDied verdict.Form = "data lost, as the FUSE daemon of the volume has exited"
)

// Advice returns advice about verdicts with known causes; empty for others.
func Advice(v verdict.Verdict) string {
	switch v.Form {
	case daemonDied:
		return "a FUSE daemon in the container of the driver exits with it: run daemons outside of it, or mount volumes that are " +
			"published over the dead mounts when the driver starts, or set requiresRepublish in the CSIDriver object and mount over " +
			"the dead mount in NodePublishVolume"
	case remounted:
		return "a running container has the mount of its start: run FUSE daemons outside of the driver's container, or document that " +
			"the volumeMounts of users need mountPropagation: HostToContainer"
	case openFiles:
		return "programs that keep files open, such as databases, fail until they open them again: run FUSE daemons outside of the " +
			"driver's container"
	}
	return ""
}

// DaemonDied reports whether a verdict is that the daemon of a volume has exited.
func DaemonDied(v verdict.Verdict) bool { return v.Form == daemonDied }

// report reports a violation, once for each pod and volume.
func (c *Check) report(u Use, form verdict.Form, text string) {
	if key := u.Pod + " " + u.Volume.String(); !c.reported[key] {
		c.reported[key] = true
		c.say(u, verdict.Verdict{Form: form}, text)
	}
}

// say reports a violation or a remark.
func (c *Check) say(u Use, v verdict.Verdict, text string) {
	v.Breaks, v.Node, v.Found = verdict.Data, u.Node, []string{text}
	c.OnViolation(u, v.Worded(verdict.Say("%s: %s", verdict.Kept(v.Form), verdict.Quoted(text))))
}

// ownContent is a machine in memory. Other machines do not show its volume content, except in
// shared storages.
type ownContent interface{ IsShared(path string) bool }

// place returns the node of the volume's content if each node has separate content; otherwise it is
// empty.
func place(u Use) string {
	if m, is := u.Machine.(ownContent); is && !m.IsShared(u.Path) {
		return u.Node
	}
	return ""
}
