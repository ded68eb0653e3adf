package main

import (
	"fmt"
	"strings"

	"github.com/csisim/csisim/cmd/internal/image"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/world/namespaces"
	"github.com/csisim/csisim/sim"
)

// What becomes of containers of images that a scenario does not map.
const (
	record = "record"
	refuse = "refuse"
)

var unmappedModes = []string{record, refuse}

// sayUnmapped prints which images of the scenario's own pods stand for nothing, where others do.
func (f upFlags) sayUnmapped(env environment, s *scenario.Scenario) {
	missing := s.UnmappedImages()
	if len(s.Images) == 0 || len(missing) == 0 || f.unmapped == refuse {
		return
	}
	fmt.Fprintf(env.stdout, "Containers of these images are records, which run nothing, since images: does not map them: %s\n", strings.Join(missing, ", "))
}

// rootFileSystems are those that entries of a scenario's images stand for: directories, archives and OCI layouts.
func rootFileSystems(s *scenario.Scenario) (map[string]sim.RootFS, error) {
	roots := map[string]sim.RootFS{}
	for _, m := range s.MappedImages() {
		if !image.Is(m.File) {
			continue
		}
		if image.IsRootFS(m.File) {
			roots[m.Image] = sim.RootFS{Dir: m.File}
			continue
		}
		read, err := image.ReadFrom(m.File, m.Image)
		if err != nil {
			return nil, mappedError(s, m, err)
		}
		roots[m.Image] = sim.RootFS{
			Entrypoint: read.Config.Entrypoint, Command: read.Config.Cmd, Env: read.Config.Env, User: read.Config.User, WorkingDir: read.Config.WorkingDir,
			Unpack: func(dir string) error {
				if err := read.Unpack(dir, !namespaces.Rootless()); err != nil {
					return fmt.Errorf("%s:%d: %s: %w", s.File, m.Line, m.File, err) // sim names the image
				}
				return nil
			},
		}
	}
	return roots, nil
}

// mappedError says which entry of the scenario is wrong.
func mappedError(s *scenario.Scenario, m scenario.Mapped, err error) error {
	return fmt.Errorf("%s:%d: images: %s: %s: %w", s.File, m.Line, m.Image, m.File, err)
}
