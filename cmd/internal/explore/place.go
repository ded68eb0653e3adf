package explore

import (
	"errors"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/world/workdir"
	"github.com/csisim/csisim/sim"
)

// place returns a directory in memory for the files of runs with driver programs, if the memory
// suffices. Creating and removing files on a disk takes a fifth of the time of such a run.
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

// roomOf estimates the size of a run's files: the content of its volumes, some of them created
// twice, cloned and in snapshots.
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
