//go:build linux

package backend

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// Reclaim returns unused space of a volume to the file system: blocks with only zeros in its image
// or its files. It returns the bytes that the volume occupied before and occupies afterwards.
// Errors: ErrNotFound.
func (b *Backend) Reclaim(id string) (before, after int64, err error) {
	err = b.exclusively(func() error {
		v, err := b.volume(id)
		if err != nil {
			return err
		}
		if before, err = taken(b.DataPath(v)); err != nil {
			return err
		}
		if err := eachFile(b.DataPath(v), func(path string, _ fs.FileInfo) error { return punch(path) }); err != nil {
			return err
		}
		after, err = taken(b.DataPath(v))
		return err
	})
	return before, after, err
}

// taken returns the disk space of the files at or below a path.
func taken(path string) (bytes int64, err error) {
	const unit = 512 // of st_blocks
	err = eachFile(path, func(_ string, info fs.FileInfo) error {
		bytes += info.Sys().(*syscall.Stat_t).Blocks * unit
		return nil
	})
	return bytes, err
}

// eachFile visits the regular files at or below a path. Files that vanish meanwhile are left out.
func eachFile(path string, visit func(string, fs.FileInfo) error) error {
	return filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return visit(path, info)
	})
}

// punchUnit is the size of an examined block.
const punchUnit = 4096

// punch replaces blocks of zeros in a file by holes.
func punch(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	for end := int64(0); ; {
		start, err := file.Seek(end, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) { // only a hole is left
			return nil
		}
		if err != nil {
			return err
		}
		if end, err = file.Seek(start, unix.SEEK_HOLE); err != nil {
			return err
		}
		if err := punchZeros(file, start, end); err != nil {
			return err
		}
	}
}

func punchZeros(file *os.File, start, end int64) error {
	block := make([]byte, punchUnit)
	for at := start; at < end; at += punchUnit {
		n, err := file.ReadAt(block, at)
		if n == 0 {
			return err
		}
		if !zero(block[:n]) {
			continue
		}
		const mode = unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE
		if err := unix.Fallocate(int(file.Fd()), mode, at, int64(n)); err != nil {
			return err
		}
	}
	return nil
}

func zero(block []byte) bool {
	for _, b := range block {
		if b != 0 {
			return false
		}
	}
	return true
}

const keyFile = "key"

// RotateKey writes a new key for a volume, atomically. Errors: ErrNotFound.
func (b *Backend) RotateKey(id string) error {
	return b.exclusively(func() error {
		if _, err := b.volume(id); err != nil {
			return err
		}
		var key [32]byte
		_, _ = rand.Read(key[:]) // never fails
		return WriteJSON(filepath.Join(b.object(volumesDir, id), keyFile), hex.EncodeToString(key[:]))
	})
}
