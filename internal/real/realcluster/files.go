package realcluster

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/moby/sys/mountinfo"

	"github.com/csisim/csisim/internal/world/lazyregexp"
	"github.com/csisim/csisim/internal/world/listing"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

// Files lists the files of a node's kubelet directory. It returns nil if the node cannot be
// reached.
func (c *Cluster) Files(node string) []string {
	lines, _ := c.files(node)
	return lines
}

// RecordFiles records this listing in the trace.
func (c *Cluster) RecordFiles(node, when string) error {
	lines, err := c.files(node)
	if err != nil {
		return err
	}
	c.world.Trace.Add(trace.Entry{Kind: trace.Files, Node: node, Message: when, Detail: lines})
	return nil
}

// listingCommand prints the node's mounts, the files below its kubelet directory and, after an
// empty entry, the volume data files. Entries end with a zero byte, since names may contain any
// other.
const listingCommand = `cat /proc/self/mountinfo; printf '\0'
cd ` + machine.KubeletDir + ` && find plugins plugins_registry pods -printf '%y\t%m\t%p\t%l\0' 2>/dev/null
printf '\0'
find plugins pods -name vol_data.json -printf '%p\t' -exec cat {} \; -printf '\0' 2>/dev/null
true`

func (c *Cluster) files(node string) (lines []string, err error) {
	entries, err := c.entries(node)
	for _, e := range entries {
		lines = append(lines, e.String())
	}
	return lines, err
}

// entries returns the files of a node's kubelet directory, in alphabetical order.
func (c *Cluster) entries(node string) ([]listing.Entry, error) {
	out, err := c.runTo("list the files", node, "sh", "-c", listingCommand)
	if err != nil {
		return nil, err
	}
	entries, err := readListing(c.options.Deploy.Scope.Plain(out))
	return entries, environment(err, "read the listing of the files of %s", node)
}

// readListing parses the output of listingCommand.
func readListing(text string) (entries []listing.Entry, err error) {
	table, rest, _ := strings.Cut(text, "\x00")
	mounts, err := mountsOf(table)
	if err != nil {
		return nil, err
	}
	found, contents, _ := strings.Cut(rest, "\x00\x00")
	content := map[string]string{}
	for _, file := range strings.Split(contents, "\x00") {
		name, text, _ := strings.Cut(file, "\t")
		content[name] = text
	}
	for _, line := range strings.Split(found, "\x00") {
		fields := strings.SplitN(line, "\t", 4)
		if len(fields) < 4 || isBelow(fields[2], mounts) || ofCluster().MatchString(fields[2]) || isOnly(fields[2], found) {
			continue
		}
		e := listing.Entry{Name: fields[2], Mode: modeOf(fields[0], fields[1]), Link: fields[3], Content: content[fields[2]]}
		if m, is := mounts[e.Name]; is {
			e.Mount = &m
		}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b listing.Entry) int {
		return slices.CompareFunc(strings.Split(a.Name, "/"), strings.Split(b.Name, "/"), cmp.Compare[string])
	})
	return entries, nil
}

// mountsOf returns the mounts of a table by their paths below the kubelet's directory. For each
// path it returns the topmost mount.
func mountsOf(table string) (map[string]machine.Mount, error) {
	all, err := mountTable(table)
	if err != nil {
		return nil, err
	}
	mounts := map[string]machine.Mount{}
	for _, m := range all {
		if name, within := strings.CutPrefix(m.Mountpoint, machine.KubeletDir+"/"); within {
			mounts[name] = machine.Mount{Source: m.Source, Target: m.Mountpoint, Root: rootOf(m, all), FSType: m.FSType, Options: strings.Split(m.Options, ",")}
		}
	}
	return mounts, nil
}

// rootOf returns the path of the directory or file that a mount shows. Paths in the table start at
// the root of the file system, but the node may have only a part of that file system, such as a
// volume of the container engine.
func rootOf(m *mountinfo.Info, table []*mountinfo.Info) string {
	root, longest := m.Root, -1
	for _, other := range table {
		rest, within := strings.CutPrefix(m.Root, strings.TrimSuffix(other.Root, "/"))
		if other == m || other.Major != m.Major || other.Minor != m.Minor || !within || rest != "" && rest[0] != '/' || len(other.Root) <= longest {
			continue
		}
		root, longest = path.Join(other.Mountpoint, rest), len(other.Root)
	}
	return root
}

// ofCluster matches files that every pod of a real cluster has in addition to its volumes: the
// hosts file, and the token of its service account. Recorded traces have neither.
var ofCluster = lazyregexp.New(`^pods/[^/]+/(etc-hosts$|volumes/kubernetes\.io~projected/kube-api-access-|plugins/kubernetes\.io~empty-dir/wrapped_kube-api-access-)`)

// parents are the directories that are made for files matched by ofCluster.
var parents = lazyregexp.New(`^pods/[^/]+/(volumes/kubernetes\.io~projected|plugins/kubernetes\.io~empty-dir)$`)

// isOnly reports whether a directory contains only files matched by ofCluster.
func isOnly(name, found string) bool {
	if !parents().MatchString(name) {
		return false
	}
	for _, line := range strings.Split(found, "\x00") {
		fields := strings.SplitN(line, "\t", 4)
		if len(fields) == 4 && strings.HasPrefix(fields[2], name+"/") && !ofCluster().MatchString(fields[2]) {
			return false
		}
	}
	return true
}

// isBelow reports whether a path is below a mount and therefore belongs to the driver.
func isBelow(name string, mounts map[string]machine.Mount) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if _, is := mounts[dir]; is {
			return true
		}
	}
	return false
}

// fileTypes are the types in the output of find.
var fileTypes = map[string]fs.FileMode{"d": fs.ModeDir, "l": fs.ModeSymlink, "s": fs.ModeSocket, "b": fs.ModeDevice, "c": fs.ModeDevice | fs.ModeCharDevice, "p": fs.ModeNamedPipe}

func modeOf(kind, octal string) fs.FileMode {
	bits, _ := strconv.ParseUint(octal, 8, 32) // find printed the number
	mode := fs.FileMode(bits&0o777) | fileTypes[kind]
	if bits&0o2000 != 0 {
		mode |= fs.ModeSetgid
	}
	return mode
}
