//go:build linux

// Package placement records the arguments with which a volume was placed at a path of this node.
// The mount table shows whether the volume is there. The record distinguishes a repeated call from
// a conflicting one, also after a restart.
package placement

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
)

// Placement is a volume at a staging or target path.
type Placement struct {
	VolumeID string `json:"volumeID"`
	Path     string `json:"path"`
	// Target is true for a published path, false for a staging path.
	Target   bool   `json:"target,omitempty"`
	ReadOnly bool   `json:"readOnly,omitempty"`
	Mode     string `json:"mode"`
	Flags    string `json:"flags,omitempty"`
}

// Ledger is the directory that holds the records of one node.
type Ledger struct {
	dir      string
	unsynced bool
}

// Open creates the missing directory. Unsynced records do not survive a loss of the node's power.
func Open(dir string, unsynced bool) (Ledger, error) {
	return Ledger{dir, unsynced}, os.MkdirAll(dir, 0o755)
}

// Put records p before the work begins.
func (l Ledger) Put(p Placement) error {
	if l.unsynced {
		return backend.WriteJSON(l.file(p.Path), p)
	}
	return backend.WriteJSONSynced(l.file(p.Path), p)
}

// Get returns the last record for path.
func (l Ledger) Get(path string) (p Placement, known bool, err error) {
	err = backend.ReadJSON(l.file(path), &p)
	if errors.Is(err, os.ErrNotExist) {
		return p, false, nil
	}
	return p, err == nil, err
}

// Has reports whether there is a record for path.
func (l Ledger) Has(path string) bool {
	_, known, err := l.Get(path)
	return known || err != nil
}

// Drop removes the record of path after the work is undone.
func (l Ledger) Drop(path string) error {
	err := os.Remove(l.file(path))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// Of lists the records of a volume.
func (l Ledger) Of(volumeID string) ([]Placement, error) {
	all, err := l.All()
	return slices.DeleteFunc(all, func(p Placement) bool { return p.VolumeID != volumeID }), err
}

// All lists all records.
func (l Ledger) All() ([]Placement, error) {
	files, err := filepath.Glob(filepath.Join(l.dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var all []Placement
	for _, file := range files {
		var p Placement
		err := backend.ReadJSON(file, &p)
		if errors.Is(err, os.ErrNotExist) { // it was dropped meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

func (l Ledger) file(path string) string {
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(l.dir, hex.EncodeToString(sum[:])+".json")
}
