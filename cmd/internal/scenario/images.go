package scenario

import (
	"maps"
	"path/filepath"
	"slices"

	"github.com/csisim/csisim/sim"
)

// Mapped is an entry of images.
type Mapped struct {
	Image string
	File  string // the file to which it is mapped: a path, or the name of a program
	Line  int    // of the entry
}

// MappedImages returns the entries of images, sorted.
func (s *Scenario) MappedImages() (all []Mapped) {
	for _, image := range slices.Sorted(maps.Keys(s.Images)) {
		file := located([]string{s.Images[image]}, filepath.Dir(s.File))[0]
		all = append(all, Mapped{image, file, s.lineOf("images", image, noItem)})
	}
	return all
}

// UnmappedImages returns the images of the scenario's own containers that are not entries of
// images.
func (s *Scenario) UnmappedImages() []string {
	return slices.DeleteFunc(s.containerImages(), func(image string) bool { return sim.Maps(s.Images, image) })
}
