package data

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"syscall"

	"github.com/csisim/csisim/internal/world/filetype"
	"github.com/csisim/csisim/internal/world/machine"
)

// FileName is the file in the root of a volume that holds the content.
const FileName = ".csisim-data"

// BlockBytes is the size of the content at the start of a device.
const BlockBytes = 4096

// content is the content at the path where a volume is published.
type content struct {
	there      bool   // a volume exists, with any content
	empty      bool   // nothing exists at the place of the data, so the data can be written
	volume     string // the volume that the content names; empty for none
	generation int
	problem    string // why there is no data
	daemonDied bool   // the daemon that serves the file system has exited
}

// unreadable returns the content of a volume that cannot be read because of an error.
func unreadable(err error) content {
	return content{problem: err.Error(), daemonDied: errors.Is(err, syscall.ENOTCONN)}
}

func (c content) String() string {
	if c.problem != "" {
		return c.problem
	}
	return fmt.Sprintf("generation %d of volume %s", c.generation, c.volume)
}

// text returns the content to be written.
func text(volume string, generation int) []byte {
	line := mark + strconv.Itoa(generation) + " " + volume
	return []byte(line + "\n" + sumOf(line) + "\n")
}

// mark begins the content.
const mark = "csisim "

func sumOf(line string) string {
	sum := sha256.Sum256([]byte(line))
	return hex.EncodeToString(sum[:])
}

// parse is the inverse of text; it ignores bytes after the text.
func parse(data []byte) content {
	line, rest, _ := strings.Cut(string(data), "\n")
	sum, _, _ := strings.Cut(rest, "\n")
	said, marked := strings.CutPrefix(line, mark)
	number, volume, _ := strings.Cut(said, " ")
	generation, err := strconv.Atoi(number)
	if !marked || err != nil || sum != sumOf(line) {
		return content{there: true, problem: "bytes that are not its own or are damaged"}
	}
	return content{there: true, generation: generation, volume: volume}
}

// VolumeIn returns the volume to which a container wrote a file with this beginning; empty if none
// did.
func VolumeIn(start []byte) string { return parse(start).volume }

// look reads the content of a published volume.
func look(u Use) content {
	if u.Block {
		return lookAtDevice(u)
	}
	mounted, err := u.Machine.IsMountPoint(u.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return content{problem: "no such directory"}
	case err != nil:
		return unreadable(err)
	case !mounted:
		return content{problem: "a directory on which nothing is mounted"}
	}
	data, err := u.Machine.ReadVolumeFile(u.Path, FileName)
	var other *machine.NotRegularError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return content{there: true, empty: true, problem: missing(u)}
	case errors.As(err, &other):
		return content{there: true, problem: filetype.Of(other.Mode) + " in the place of " + FileName}
	case err != nil:
		found := unreadable(err)
		found.there = true
		return found
	}
	return parse(data)
}

// missing describes a directory without the file.
func missing(u Use) string {
	if entries, err := u.Machine.ReadDir(u.Path); err == nil && len(entries) > 0 {
		return "a directory without " + FileName
	}
	return "an empty directory"
}

func lookAtDevice(u Use) content {
	data, err := u.Machine.ReadStart(u.Path, BlockBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return content{problem: "no such device"}
	case err != nil:
		return content{problem: err.Error()}
	case len(bytes.Trim(data, "\x00")) == 0:
		return content{there: true, empty: true, problem: "an empty device"}
	}
	return parse(data)
}

// put writes a generation.
func put(u Use, generation int) error {
	data := text(u.Volume.String(), generation)
	if !u.Block {
		return putFile(u, data)
	}
	sector := make([]byte, max(BlockBytes, len(data)))
	copy(sector, data)
	return u.Machine.WriteStart(u.Path, sector)
}

// putFile writes the file durably, so that a snapshot taken now contains it.
func putFile(u Use, data []byte) error {
	return u.Machine.WriteVolumeFile(u.Path, FileName, data, 0o644)
}
