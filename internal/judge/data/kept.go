package data

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"syscall"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/internal/world/volume"
)

// Names below the root of a volume: a directory with a file and a symbolic link to it.
const (
	keptDir  = ".csisim-kept"
	keptFile = "file"
	keptLink = "link"
)

// The mode and the owner of the file. fsGroup changes the group and the group's permissions, so
// these are not compared.
const (
	keptMode     = fs.FileMode(0o751)
	comparedMode = fs.FileMode(0o707)
	keptOwner    = 1234
)

// keptContent is larger than 64 KiB, the usual buffer size of programs that copy files.
var keptContent = bytes.Repeat([]byte("kept by csisim\n"), 4500)

// keeper is a machine with volumes that may keep symbolic links, modes and owners.
type keeper interface {
	machine.VolumeFiles
	Mkdir(path string, perm fs.FileMode) error
	Symlink(target, link string) error
	Readlink(path string) (string, error)
	Lchown(path string, uid, gid int) error
	Lstat(path string) (fs.FileInfo, error)
}

// kept is the part of the directory that a volume preserves. File systems without symbolic links,
// modes or owners preserve only a part of the directory.
type kept struct {
	link  string      // the target of the link; empty if there is none
	file  bool        // the file is there
	whole bool        // with its content
	mode  fs.FileMode // of the file
	uid   uint32
	sure  bool // it could be checked
}

// Began prepares a volume that is about to be copied for the first time, if a pod uses it. It does
// so only once: a later copy may contain earlier content.
func (c *Check) Began(call *trace.Event) {
	for _, copied := range copiesOf(call) {
		v := copied.From
		u, known := c.uses[v]
		again := c.sources[v]
		c.sources[v] = true
		if again || !known || c.Serves != nil && !c.Serves(u.Volume.Driver, u.Node) {
			continue
		}
		if mounted, err := u.Machine.IsMountPoint(u.Path); err == nil && mounted {
			c.plant(u)
		}
	}
}

// plant creates the directory in a new volume, once, and records the part of it that the volume has
// preserved.
func (c *Check) plant(u Use) {
	m, can := u.Machine.(keeper)
	if !c.made[u.Volume] || place(u) != "" || volume.IsInlineHandle(u.Volume.Handle) {
		return
	}
	if u.Block {
		c.mark(u)
		return
	}
	if !can {
		return
	}
	dir := path.Join(u.Path, keptDir)
	if m.Mkdir(dir, 0o755) != nil {
		return
	}
	_ = m.Symlink(keptFile, path.Join(dir, keptLink))
	// The durable write of the content also makes the owner durable. A snapshot of a block device
	// contains only durable data.
	failed := m.WriteVolumeFile(dir, keptFile, nil, keptMode)
	if failed == nil {
		_ = m.Lchown(path.Join(dir, keptFile), keptOwner, keptOwner)
		failed = m.WriteVolumeFile(dir, keptFile, keptContent, keptMode)
	}
	k := keptIn(m, dir)
	k.whole = failed == nil
	c.kept[u.Volume.String()] = k
}

// keptIn looks at the directory.
func keptIn(m keeper, dir string) kept {
	link, noLink := m.Readlink(path.Join(dir, keptLink))
	info, noFile := m.Lstat(path.Join(dir, keptFile))
	k := kept{link: link, sure: isClear(noLink) && isClear(noFile)}
	if noFile != nil {
		return k
	}
	k.file, k.mode = info.Mode().IsRegular(), info.Mode().Perm()
	if owner, ok := info.Sys().(*syscall.Stat_t); ok {
		k.uid = owner.Uid
	}
	return k
}

// isWhole reports whether the file has its content, or cannot be read.
func isWhole(m keeper, u Use) bool {
	content, err := m.ReadVolumeFile(path.Join(u.Path, keptDir), keptFile)
	return err != nil || bytes.Equal(content, keptContent)
}

// isClear reports whether an error means that the file or link does not exist.
func isClear(err error) bool {
	return err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EINVAL)
}

// compareKept compares a copy to its source volume. A copy without the link or the file lacks data.
// Differences in modes and owners are remarks, because some file systems preserve only a part of
// them.
func (c *Check) compareKept(u Use, source string) {
	m, can := u.Machine.(keeper)
	was := c.kept[source]
	if u.Block {
		c.compareMark(u, source)
		return
	}
	if !can || !was.sure {
		return
	}
	is := keptIn(m, path.Join(u.Path, keptDir))
	lacks := func(thing, name, found string) {
		c.incomplete(u, source, fmt.Sprintf("%s %s/%s", thing, keptDir, name), found)
	}
	switch {
	case !is.sure:
	case was.file && !is.file:
		lacks("file", keptFile, "none")
	case was.whole && !isWhole(m, u):
		lacks("file", keptFile, "other content")
	case was.link != "" && is.link != was.link:
		lacks("symbolic link", keptLink, "none")
	case was.file && was.mode&comparedMode != is.mode&comparedMode:
		c.remark(u, losesModes, "%v, in volume %s %v", is.mode, source, was.mode)
	case was.file && was.uid != is.uid:
		c.remark(u, losesOwners, "%v, in volume %s %v", is.uid, source, was.uid)
	}
}

// incomplete reports a copy that lacks a part of its source.
func (c *Check) incomplete(u Use, source, part, found string) {
	c.violation(u, fmt.Sprintf("all of volume %s, of which it is a copy", source), content{problem: fmt.Sprintf("an incomplete copy (%s: %s)", part, found)})
}

// The forms of remarks on copies.
const (
	losesModes  verdict.Form = "a copy loses the modes of its files"
	losesOwners verdict.Form = "a copy loses the owners of its files"
)

func (c *Check) remark(u Use, form verdict.Form, has string, args ...any) {
	text := fmt.Sprintf("volume %s at %s on %s: %s/%s has "+has, append([]any{u.Name, u.Path, u.Node, keptDir, keptFile}, args...)...)
	c.say(u, verdict.Verdict{Form: form, Remark: true}, text)
}
