package nodeinit

import (
	"strconv"
	"strings"
)

// Container is what the program is started as to become the program of a container: in the container's mount
// namespace and root, and as one of the processes that it is to see. It shows these in /proc, gives up what the
// container may not have, and executes the program. Its words are those of ContainerUser, the program's path and the program's own
// words. Without a path it lasts until it is killed, as the process that holds the namespace of a pod does.
//
// On its descriptor 3, a socket that is closed then, it sends a Report at its begin, awaits a byte, and reports what it could not do.
const Container = "csisim-container"

// Fork is what the program is started as to start a Container with the same words as process 1 of a new process namespace, and as a
// child of its own parent: who is in a process namespace alone may make one within it. ForkWithTerminal
// makes its standard input the terminal of the container.
const (
	Fork             = "csisim-fork"
	ForkWithTerminal = "csisim-fork-terminal"
)

// Report is a step and the number of the error, 0 if there was none.
type Report [2]byte

// The steps of becoming a container.
const (
	Beginning = iota
	Forking
	ShowingProcesses
	GivingUp
	Executing
)

// ContainerUser is who a container's program is, and what it lacks.
type ContainerUser struct {
	UID, GID uint32
	Groups   []uint32
	// One says that there is only the user that the process is already.
	One bool
	// Dropped has a bit for each capability that it may never have.
	Dropped         uint64
	NoNewPrivileges bool
}

// Words are how the user is named to a Container.
func (c ContainerUser) Words() []string {
	var groups []string
	for _, g := range c.Groups {
		groups = append(groups, strconv.FormatUint(uint64(g), 10))
	}
	return []string{
		strconv.FormatUint(uint64(c.UID), 10), strconv.FormatUint(uint64(c.GID), 10), strings.Join(groups, ","), strconv.FormatBool(c.One),
		strconv.FormatUint(c.Dropped, 16), strconv.FormatBool(c.NoNewPrivileges),
	}
}

// parse is the reverse of Words, followed by a path and arguments.
func parse(words []string) (c ContainerUser, path string, args []string) {
	number := func(text string) uint32 {
		n, _ := strconv.ParseUint(text, 10, 32) // csisim wrote it
		return uint32(n)
	}
	c.UID, c.GID = number(words[0]), number(words[1])
	for g := range strings.SplitSeq(words[2], ",") {
		if g != "" {
			c.Groups = append(c.Groups, number(g))
		}
	}
	c.One = words[3] == "true"
	c.Dropped, _ = strconv.ParseUint(words[4], 16, 64)
	c.NoNewPrivileges = words[5] == "true"
	return c, words[6], words[7:]
}
