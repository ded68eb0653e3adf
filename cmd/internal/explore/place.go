package explore

import (
	"errors"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/world/workdir"
	"github.com/csisim/csisim/sim"
)

// place is where runs with driver programs keep their files: in memory, if there is room for them; making and removing
// files on a disk is a fifth of such a run's time.
func (s *Search) place() (*workdir.Memory, error) {
	o := s.options.Run
	if !s.subject.scenario.HasPrograms() || o.WorkDir != "" || o.Isolation == sim.None {
		return nil, nil
	}
	memory, err := workdir.NewMemory("")
	switch {
	case errors.Is(err, workdir.ErrNoNamespace):
		return nil, nil
	case err != nil:
		return nil, err
	case roomOf(s.Calm)*uint64(max(s.options.Jobs, 1)) > memory.Size():
		return nil, memory.Close()
	}
	return memory, nil
}

// roomOf is what the files of a run may take: what its volumes hold, with some of them made twice, cloned and in snapshots.
func roomOf(calm *scenario.Result) uint64 {
	const copies = 4
	var all int64
	for _, e := range calm.Trace {
		switch request := e.Request.(type) {
		case *csi.CreateVolumeRequest:
			all += request.GetCapacityRange().GetRequiredBytes()
		case *csi.ControllerExpandVolumeRequest:
			all += request.GetCapacityRange().GetRequiredBytes()
		}
	}
	return copies * uint64(max(all, 0))
}
