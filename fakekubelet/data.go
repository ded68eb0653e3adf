package fakekubelet

import (
	"maps"
	"slices"

	"github.com/csisim/csisim/internal/judge/data"
	"github.com/csisim/csisim/internal/world/volume"
)

// readData makes the containers of the pod read their volumes.
func (w *podWorker) readData() {
	for _, use := range w.dataUses() {
		w.options.Data.Read(use)
	}
}

// startData starts the simulated containers of the pod: they read and then write their volumes.
func (w *podWorker) startData() {
	for _, use := range w.dataUses() {
		w.options.Data.Start(use)
	}
}

// dataUses returns the volumes that the pod's containers use.
func (w *podWorker) dataUses() []data.Use {
	node, showsVolumes := w.options.Machine.(data.Machine)
	// Programs use their volumes themselves.
	if w.options.Data == nil || w.hasPrograms() || !showsVolumes {
		return nil
	}
	var uses []data.Use
	for i := range w.pod.Spec.Volumes {
		name := w.pod.Spec.Volumes[i].Name
		spec := w.volumes.SpecOf(w.pod.UID, name)
		if spec == nil {
			continue
		}
		use := data.Use{
			Pod: w.pod.Namespace + "/" + w.pod.Name, Name: spec.Name, Node: w.Node, Machine: node,
			Volume: data.Volume{Driver: spec.Driver(), Handle: spec.Handle(w.pod.UID)},
			Path:   w.csi.TargetPath(w.pod.UID, spec.Name), Block: spec.Block(), Writable: !spec.ReadOnly && volume.IsWritten(w.pod, name), ForWriting: spec.ForWriting(), Propagated: volume.IsPropagated(w.pod, name),
		}
		if use.Block {
			use.Path = w.csi.BlockPublishPath(w.pod.UID, spec.Name)
		}
		uses = append(uses, use)
	}
	return uses
}

// ReadData makes all running pods read their volumes.
func (k *Kubelet) ReadData() {
	for _, uid := range slices.Sorted(maps.Keys(k.pods.workers)) {
		if w := k.pods.workers[uid]; w.running() && !w.terminating {
			w.readData()
		}
	}
}
