package main

import (
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

// controlGroups describes how a version of Linux's control groups limits memory.
type controlGroups struct {
	controller string // the name in /proc/self/cgroup; empty for version 2
	fsType     string // of their mount
	limit      string // the file with the limit of a group
}

var (
	groupsV1 = controlGroups{controller: "memory", fsType: "cgroup", limit: "memory.limit_in_bytes"}
	groupsV2 = controlGroups{fsType: "cgroup2", limit: "memory.max"}
)

// memory returns the lowest limit of the process's group and of its visible ancestors; the largest
// number if there is no limit.
func (c controlGroups) memory(root fs.FS) int64 {
	limit := int64(math.MaxInt64)
	group, ok := c.group(root)
	point, top, mounted := c.mount(root)
	if !ok || !mounted {
		return limit
	}
	// In a container, the top of the mount may be the process's own group, or a group that has
	// another name inside the container.
	below, ok := strings.CutPrefix(group, strings.TrimSuffix(top, "/"))
	if !ok {
		below = "/"
	}
	for at := path.Clean("/" + below); ; at = path.Dir(at) {
		limit = min(limit, numberIn(root, path.Join(point, at, c.limit)))
		if at == "/" {
			return limit
		}
	}
}

// group returns the process's group.
func (c controlGroups) group(root fs.FS) (string, bool) {
	for line := range linesOf(root, "proc/self/cgroup") {
		parts := strings.SplitN(line, ":", 3)
		if len(parts) == 3 && slices.Contains(strings.Split(parts[1], ","), c.controller) {
			return parts[2], true
		}
	}
	return "", false
}

// mount returns the mount point of the groups, and the group at its top.
func (c controlGroups) mount(root fs.FS) (point, top string, ok bool) {
	for line := range linesOf(root, "proc/self/mountinfo") {
		mount, source, _ := strings.Cut(line, " - ")
		at, of := strings.Fields(mount), strings.Fields(source)
		if len(at) < 5 || len(of) < 3 || of[0] != c.fsType {
			continue
		}
		if c.controller == "" || slices.Contains(strings.Split(of[2], ","), c.controller) {
			return at[4], at[3], true
		}
	}
	return "", "", false
}

// numberIn returns the number in a file; the largest number if the file has none, as in "max".
func numberIn(root fs.FS, file string) int64 {
	text, err := fs.ReadFile(root, strings.TrimPrefix(file, "/"))
	if err != nil {
		return math.MaxInt64
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return math.MaxInt64
	}
	return n
}
