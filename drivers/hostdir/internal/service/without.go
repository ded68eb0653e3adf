//go:build linux

package service

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Without names disabled features of an instance of the driver, in addition to --no-attach and
// --no-stage.
type Without map[string]bool

// The features that can be disabled.
const (
	withoutList             = "list"
	withoutSnapshots        = "snapshots"
	withoutControllerExpand = "controller-expand"
)

var dispensable = map[string]string{
	withoutList:             "lists of volumes and snapshots",
	withoutSnapshots:        "snapshots",
	withoutControllerExpand: "ControllerExpandVolume: NodeExpandVolume makes volumes bigger by itself",
}

// ParseWithout reads names separated by commas.
func ParseWithout(names string) (Without, error) {
	set := Without{}
	for name := range strings.SplitSeq(names, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if dispensable[name] == "" {
			return nil, fmt.Errorf("%q cannot be left out; there are:\n%s", name, WithoutHelp())
		}
		set[name] = true
	}
	return set, nil
}

// WithoutHelp lists the features that can be disabled, a line each.
func WithoutHelp() string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(dispensable)) {
		fmt.Fprintf(&text, "  %-36s%s\n", name, dispensable[name])
	}
	return text.String()
}
