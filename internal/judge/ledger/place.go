package ledger

import (
	"path"
	"strings"

	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/volume"
)

// Dir is the directory of a kubelet, by the path that the kubelet uses.
type Dir string

// Directories of the kubelet that contain the directories of volumes and pods. K-PATH-3 to K-PATH-5
const (
	pods    = "/pods"
	plugin  = "/plugins/" + volume.Plugin
	block   = plugin + "/volumeDevices"
	escaped = "kubernetes.io~csi"
)

func (d Dir) podsDir() string   { return string(d) + pods }
func (d Dir) pluginDir() string { return string(d) + plugin }
func (d Dir) blockDir() string  { return string(d) + block }

// DirOf returns the kubelet directory that contains a path of a volume or pod.
func DirOf(name string) Dir {
	for _, dir := range []string{plugin, pods} {
		if i := strings.Index(name, dir+"/"); i >= 0 {
			return Dir(name[:i])
		}
	}
	return machine.KubeletDir
}

// Place describes the purpose of a path below the kubelet's directory.
type Place struct {
	// Pod is the UID of its pod.
	Pod string
	// Volume is the name of the PersistentVolume or inline volume, and Handle the hash of the
	// volume's handle. At most one of the two is known.
	Volume, Handle string
	// Driver is known only for staging directories of file systems.
	Driver string
	// Staging and Target are the paths in calls about the place. Beneath is set if the place holds
	// things of several calls.
	Staging, Target, Beneath string
	// Kubelet means that the kubelet creates it, not the driver.
	Kubelet bool
	// Container marks a termination log or its directory, which stays as long as the directory of
	// the pod. K-POD-16
	Container bool
}

// Owned reports whether the place belongs to a pod or a volume. Other places exist independently of
// them.
func (p Place) Owned() bool { return p.Pod != "" || p.Volume != "" || p.Handle != "" }

// IsShared reports whether there can be places of different pods below this one.
func (p Place) IsShared() bool { return p.Pod == "" && p.Volume != "" }

// Locate returns the purpose of a path.
func (d Dir) Locate(name string) Place {
	if below, ok := strings.CutPrefix(name, d.podsDir()+"/"); ok {
		return d.inPod(strings.Split(below, "/"))
	}
	if below, ok := strings.CutPrefix(name, d.blockDir()+"/"); ok {
		return d.ofBlock(strings.Split(below, "/"))
	}
	if below, ok := strings.CutPrefix(name, d.pluginDir()+"/"); ok {
		return d.staged(strings.Split(below, "/"))
	}
	return Place{}
}

// inPod returns the place of a path below pods: <uid>/volumes/kubernetes.io~csi/<volume>/mount,
// <uid>/volumeDevices/kubernetes.io~csi/<volume>, <uid>/volume-subpaths/<volume>.
func (d Dir) inPod(parts []string) Place {
	p := Place{Pod: parts[0], Beneath: path.Join(d.podsDir(), parts[0]), Kubelet: true}
	switch {
	case len(parts) > 1 && parts[1] == "containers":
		p.Container = true
	case len(parts) > 3 && parts[1] == "volumes" && parts[2] == escaped:
		p.Volume = parts[3]
		p.Target = path.Join(p.Beneath, "volumes", escaped, p.Volume, "mount")
		p.Kubelet = len(parts) == 4 || parts[4] == "vol_data.json"
	case len(parts) > 3 && parts[1] == "volumeDevices":
		p.Volume = parts[3]
		p.Target = path.Join(d.blockDir(), "publish", p.Volume, p.Pod)
	case len(parts) > 2 && parts[1] == "volume-subpaths":
		p.Volume = parts[2]
		p.Target = path.Join(p.Beneath, "volumes", escaped, p.Volume, "mount")
	}
	return p
}

// ofBlock returns the place of a path below volumeDevices: staging/<volume>,
// publish/<volume>/<uid>, <volume>/dev/<uid>, <volume>/data.
func (d Dir) ofBlock(parts []string) Place {
	switch parts[0] {
	case "staging", "publish":
		if len(parts) == 1 {
			return Place{}
		}
		p := Place{Volume: parts[1], Staging: path.Join(d.blockDir(), "staging", parts[1]), Kubelet: len(parts) == 2}
		if parts[0] == "publish" {
			p.Staging, p.Beneath = "", path.Join(d.blockDir(), "publish", parts[1])
			if len(parts) > 2 {
				p.Pod, p.Target = parts[2], path.Join(p.Beneath, parts[2])
			}
		}
		return p
	}
	p := Place{Volume: parts[0], Kubelet: true, Staging: path.Join(d.blockDir(), "staging", parts[0])}
	if len(parts) > 2 && parts[1] == "dev" {
		p.Pod, p.Staging, p.Target = parts[2], "", path.Join(d.blockDir(), "publish", parts[0], parts[2])
	}
	return p
}

// staged returns the place of <driver>/<hash of the handle>/globalmount.
func (d Dir) staged(parts []string) Place {
	if len(parts) == 1 {
		return Place{Driver: parts[0]}
	}
	return Place{
		Driver: parts[0], Handle: parts[1], Kubelet: true,
		Staging: path.Join(d.pluginDir(), parts[0], parts[1], "globalmount"),
	}
}
