package web

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/driver/standin/disk"
)

// attached is the disk of an object, with the links to it by the names of the nodes that see it.
type attached struct {
	*disk.Disk
	size  int64
	links map[string]string
}

// syncDisks makes the disks of a collection agree with its objects.
func (s *Service) syncDisks(c *collection) error {
	if c.Disk == nil {
		return nil
	}
	for id, d := range c.disks {
		if c.find(id) >= 0 {
			continue
		}
		if err := errors.Join(s.show(d, nil, ""), d.Remove()); err != nil {
			return err
		}
		delete(c.disks, id)
	}
	for _, t := range c.objects {
		if err := s.syncDisk(c, t); err != nil {
			return fmt.Errorf("disk of %s: %w", c.id(t), err)
		}
	}
	return nil
}

// syncDisk makes the disk of an object as large as it should be, and shows it to its nodes.
func (s *Service) syncDisk(c *collection, t object) error {
	n := names{object: t}
	value, err := c.compiled.size.value(n)
	if err != nil {
		return err
	}
	size, is := value.(int64)
	if !is {
		return fmt.Errorf("expression %q gives %v, not a number of bytes", c.Disk.Size, value)
	}
	d := c.disks[c.id(t)]
	if d == nil {
		if d, err = s.makeDisk(c, t, size); err != nil {
			return err
		}
		c.disks[c.id(t)] = d
	}
	if size > d.size {
		if err := d.Grow(size); err != nil {
			return err
		}
		d.size = size
	}
	if c.Disk.Nodes == "" {
		return nil
	}
	nodes, err := c.compiled.seenBy.value(n)
	if err != nil {
		return err
	}
	path, err := c.compiled.path.value(n)
	if err != nil {
		return err
	}
	link, below := strings.CutPrefix(fmt.Sprint(path), "/dev/")
	list, is := nodes.([]any)
	if !is || !below {
		return fmt.Errorf("nodes %v and path %v, not a list and a path below /dev", nodes, path)
	}
	return s.show(d, s.machines(list), link)
}

// makeDisk creates the disk of an object. The declaration may name another disk as its content.
func (s *Service) makeDisk(c *collection, t object, size int64) (*attached, error) {
	var content *disk.Disk
	if c.compiled.from != nil {
		from, err := c.compiled.from.value(names{object: t})
		if err != nil {
			return nil, err
		}
		if from != "" {
			source := s.diskAt(fmt.Sprint(from))
			if source == nil {
				return nil, fmt.Errorf("no disk at %v", from)
			}
			content = source.Disk
		}
	}
	dir := filepath.Join(s.dir, filepath.Base(c.Path))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	made, err := disk.Make(filepath.Join(dir, c.id(t)), content, size)
	return &attached{Disk: made, size: size, links: map[string]string{}}, err
}

func (s *Service) diskAt(path string) *attached {
	for _, c := range s.collections {
		if filepath.Dir(path) == c.Path {
			return c.disks[filepath.Base(path)]
		}
	}
	return nil
}

// machines returns the names of the machines with one of the given names or numbers.
func (s *Service) machines(nodes []any) (all []string) {
	for name, e := range s.endpoints {
		if slices.ContainsFunc(nodes, func(node any) bool { return node == name || node == e.number }) {
			all = append(all, name)
		}
	}
	return all
}

// show makes a disk appear on these machines only.
func (s *Service) show(d *attached, machines []string, link string) error {
	for _, name := range slices.Sorted(maps.Keys(d.links)) {
		if !slices.Contains(machines, name) {
			if err := d.Hide(s.endpoints[name].node, "", d.links[name]); err != nil {
				return err
			}
			delete(d.links, name)
		}
	}
	for _, name := range machines {
		if _, shown := d.links[name]; !shown {
			if err := d.Show(s.endpoints[name].node, "", link); err != nil {
				return err
			}
			d.links[name] = link
		}
	}
	return nil
}

// furnishDev gives a node a /dev without the disks of the host, which a driver could take for its
// volumes.
func furnishDev() error {
	return disk.FurnishDev(func(name string) bool { return strings.HasPrefix(name, "sd") })
}

// freeDisks frees the loop devices of all disks.
func (s *Service) freeDisks() error {
	var errs []error
	for _, c := range s.collections {
		for _, d := range c.disks {
			errs = append(errs, d.Free())
		}
	}
	return errors.Join(errs...)
}
