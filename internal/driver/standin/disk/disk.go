package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/csisim/csisim/internal/driver/standin"
)

// Disk is a file that nodes see as a block device.
type Disk struct {
	file  string
	loop  string // the device that shows the file; empty while no node sees it
	shown int    // on how many nodes
}

// Make creates a disk of size bytes in file, with the content of another disk or, for nil, without
// any.
func Make(file string, content *Disk, size int64) (*Disk, error) {
	if content == nil {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			return nil, err
		}
	} else if _, err := standin.Run("cp", "--sparse=always", content.file, file); err != nil {
		return nil, fmt.Errorf("copy the content of a disk: %w", err)
	}
	return &Disk{file: file}, os.Truncate(file, size)
}

// Show makes the disk appear on a node, with a name in /dev and at links below it. An empty name is
// the name of its loop device.
func (d *Disk) Show(n standin.Node, name string, links ...string) error {
	if d.loop == "" {
		loop, err := standin.Run("losetup", "--find", "--show", d.file)
		if err != nil {
			return err
		}
		d.loop = loop
	}
	number, err := os.ReadFile("/sys/block/" + filepath.Base(d.loop) + "/dev")
	if err != nil {
		return err
	}
	major, minor, _ := strings.Cut(strings.TrimSpace(string(number)), ":")
	name = d.nameIn(name)
	err = n.Within(func() error {
		if err := os.Remove(filepath.Join(Dev, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := makeDevice(name, "b", major, minor); err != nil {
			return err
		}
		for _, link := range links {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(Dev, link)), 0o755); err != nil {
				return err
			}
			target, err := filepath.Rel(filepath.Dir(link), name)
			if err != nil {
				return err
			}
			if err := os.Symlink(target, filepath.Join(Dev, link)); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		d.shown++
	}
	return err
}

func (d *Disk) nameIn(name string) string {
	if name == "" {
		return filepath.Base(d.loop)
	}
	return name
}

// Hide removes the device and the links from a node. With the last node, it frees the loop device.
func (d *Disk) Hide(n standin.Node, name string, links ...string) error {
	err := n.Within(func() (err error) {
		for _, link := range append(links, d.nameIn(name)) {
			err = errors.Join(err, os.Remove(filepath.Join(Dev, link)))
		}
		return err
	})
	if d.shown--; d.shown > 0 {
		return err
	}
	return errors.Join(err, d.Free())
}

// Grow enlarges the disk to size bytes.
func (d *Disk) Grow(size int64) error {
	if err := os.Truncate(d.file, size); err != nil || d.loop == "" {
		return err
	}
	_, err := standin.Run("losetup", "--set-capacity", d.loop)
	return err
}

// Free frees the loop device.
func (d *Disk) Free() error {
	if d.loop == "" {
		return nil
	}
	_, err := standin.Run("losetup", "--detach", d.loop)
	d.loop = ""
	return err
}

// Remove deletes the disk.
func (d *Disk) Remove() error { return errors.Join(d.Free(), os.Remove(d.file)) }
