package realcluster

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/moby/sys/mountinfo"
)

// mountTable reads the mount table of a node in the format of /proc/self/mountinfo. The library
// reads tables on Linux only, but csisim also reaches nodes from other systems. (man 5
// proc_pid_mountinfo)
func mountTable(text string) (all []*mountinfo.Info, err error) {
	for line := range strings.Lines(text) {
		mount, filesystem, separated := strings.Cut(strings.TrimRight(line, "\n"), " - ")
		own, of := strings.Fields(mount), strings.Fields(filesystem)
		if !separated || len(own) < 6 || len(of) < 2 {
			return nil, fmt.Errorf("read the mount table: unexpected line %q", line)
		}
		m := &mountinfo.Info{Root: unescaped(own[3]), Mountpoint: unescaped(own[4]), Options: own[5], FSType: unescaped(of[0]), Source: unescaped(of[1])}
		if _, err := fmt.Sscanf(own[0]+" "+own[1]+" "+own[2], "%d %d %d:%d", &m.ID, &m.Parent, &m.Major, &m.Minor); err != nil {
			return nil, fmt.Errorf("read the mount table: line %q: %w", line, err)
		}
		all = append(all, m)
	}
	return all, nil
}

// unescaped replaces the octal escapes of a field, such as \040 for a space.
func unescaped(field string) string {
	var b strings.Builder
	for i := 0; i < len(field); i++ {
		if field[i] == '\\' && i+3 < len(field) {
			if code, err := strconv.ParseUint(field[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(code))
				i += 3
				continue
			}
		}
		b.WriteByte(field[i])
	}
	return b.String()
}
