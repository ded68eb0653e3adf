//go:build linux

package backend

import (
	"errors"
	"io/fs"
	"net/netip"
	"path/filepath"
	"slices"
)

const fencesFile = "fences.json"

// Fence blocks clients with these addresses from the storage, and Unfence unblocks them. Each
// address range has one entry, even if it is fenced several times. Both wait for the plugins of
// running nodes. Errors: ErrUnreachable.
func (b *Backend) Fence(ranges []string) error {
	return b.changeFences(func(all []string) []string {
		for _, r := range ranges {
			if !slices.Contains(all, r) {
				all = append(all, r)
			}
		}
		return all
	})
}

// Unfence reverts Fence. It ignores ranges that are not fenced.
func (b *Backend) Unfence(ranges []string) error {
	return b.changeFences(func(all []string) []string {
		return slices.DeleteFunc(all, func(r string) bool { return slices.Contains(ranges, r) })
	})
}

func (b *Backend) changeFences(change func([]string) []string) error {
	err := b.exclusively(func() error {
		all, err := b.fences()
		if err != nil {
			return err
		}
		return WriteJSON(filepath.Join(b.dir, fencesFile), change(all))
	})
	if err != nil {
		return err
	}
	return b.awaitClients()
}

// Fences lists the fenced address ranges.
func (b *Backend) Fences() (all []string, err error) {
	err = b.exclusively(func() error {
		all, err = b.fences()
		return err
	})
	return all, err
}

func (b *Backend) fences() (all []string, err error) {
	err = ReadJSON(filepath.Join(b.dir, fencesFile), &all)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return all, err
}

// Covers reports whether a client's address is in one of the ranges.
func Covers(ranges []string, address netip.Addr) bool {
	return slices.ContainsFunc(ranges, func(text string) bool {
		r, err := netip.ParsePrefix(text)
		return err == nil && r.Contains(address)
	})
}
