// Package version lists the changes of Kubernetes' releases for CSI drivers. The simulation
// implements v1.36; an older release is v1.36 without the later changes in the table.
package version

import (
	"fmt"
	"strconv"
	"strings"
)

// Version is a release of Kubernetes 1, by its minor version. The zero value is
// the newest.
type Version int

// The releases that can be simulated.
const (
	Oldest Version = 13
	Newest Version = 36
)

// Parse reads a version such as "1.24". The error lists those that are known.
func Parse(text string) (Version, error) {
	minor, ok := strings.CutPrefix(text, "1.")
	number, err := strconv.Atoi(minor)
	v := Version(number)
	if !ok || err != nil || v < Oldest || v > Newest || v.String() != text {
		return 0, fmt.Errorf("there is no Kubernetes version %q; known are %s", text, Names())
	}
	return v, nil
}

// OfRelease returns the version of a release such as v1.31.2-eks-7f9249a, or false if it is
// unknown.
func OfRelease(release string) (Version, bool) {
	major, rest, _ := strings.Cut(strings.TrimPrefix(release, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	v, err := Parse(major + "." + strings.TrimRight(minor, "+"))
	return v, err == nil
}

// All returns the known versions, the oldest first.
func All() []Version {
	var all []Version
	for v := Oldest; v <= Newest; v++ {
		all = append(all, v)
	}
	return all
}

// Names lists the known versions.
func Names() string {
	var names []string
	for _, v := range All() {
		names = append(names, v.String())
	}
	return strings.Join(names, ", ")
}

func (v Version) String() string { return fmt.Sprintf("1.%d", v.Minor()) }

// Minor returns the number after the point.
func (v Version) Minor() int {
	if v == 0 {
		return int(Newest)
	}
	return int(v)
}

// Release returns the version with its patch, in the form that components report. Only the newest
// version follows a certain patch release; all others have patch 0.
func (v Version) Release() string {
	if v.Minor() == int(Newest) {
		return "v1.36.3"
	}
	return "v" + v.String() + ".0"
}

// Has reports whether the version behaves as after the change.
func (v Version) Has(c Change) bool { return v.Minor() >= int(c.Entry().Since) }
