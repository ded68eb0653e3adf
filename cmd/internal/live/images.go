package live

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/image"
	"github.com/csisim/csisim/internal/world/namespaces"
	"github.com/csisim/csisim/sim"
)

// The handling of containers with images that the scenario does not map.
const (
	Record = "record"
	Refuse = "refuse"
)

// UnmappedModes lists all modes.
var UnmappedModes = []string{Record, Refuse}

// printUnmapped prints the unmapped images of the scenario's own pods, if the scenario maps others.
func (o Options) printUnmapped(s *scenario.Scenario) {
	missing := s.UnmappedImages()
	if len(s.Images) == 0 || len(missing) == 0 || o.Unmapped == Refuse || o.Pull {
		return
	}
	fmt.Fprintf(o.Stdout, "Containers of these images are records, which run nothing, since images: does not map them: %s\n", strings.Join(missing, ", "))
}

// rootFileSystems reads the directories, archives and OCI layouts in a scenario's images.
func rootFileSystems(ctx context.Context, s *scenario.Scenario) (map[string]sim.RootFS, error) {
	roots := map[string]sim.RootFS{}
	for _, m := range s.MappedImages() {
		if !image.Is(m.File) {
			continue
		}
		if image.IsRootFS(m.File) {
			roots[m.Image] = sim.RootFS{Dir: m.File}
			continue
		}
		read, err := image.ReadFrom(ctx, m.File, m.Image)
		if err != nil {
			return nil, mappedError(s, m, err)
		}
		root := rootOf(read)
		unpack := root.Unpack
		root.Unpack = func(ctx context.Context, dir string) error {
			if err := unpack(ctx, dir); err != nil {
				// Package sim adds the image to the message.
				return fmt.Errorf("%s:%d: %s: %w", s.File, m.Line, m.File, err)
			}
			return nil
		}
		roots[m.Image] = root
	}
	return roots, nil
}

// rootOf returns the root file system of an image.
func rootOf(read *image.Read) sim.RootFS {
	return sim.RootFS{
		ID: read.ID, Entrypoint: read.Config.Entrypoint, Command: read.Config.Cmd, Env: read.Config.Env, User: read.Config.User, WorkingDir: read.Config.WorkingDir,
		Unpack: func(ctx context.Context, dir string) error { return read.Unpack(ctx, dir, !namespaces.Rootless()) },
	}
}

// puller returns a function that fetches unmapped images from their registries; nil if that is
// disabled.
func (o Options) puller() (func(context.Context, string) (sim.RootFS, error), error) {
	if !o.Pull {
		return nil, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, &EnvironmentError{err}
	}
	from := image.Puller{Dir: filepath.Join(cache, "csisim", "images")}
	return func(ctx context.Context, reference string) (sim.RootFS, error) {
		read, err := from.Pull(ctx, reference)
		if err != nil {
			return sim.RootFS{}, err
		}
		return rootOf(read), nil
	}, nil
}

// mappedError adds the faulty entry of the scenario to an error.
func mappedError(s *scenario.Scenario, m scenario.Mapped, err error) error {
	return fmt.Errorf("%s:%d: images: %s: %s: %w", s.File, m.Line, m.Image, m.File, err)
}
