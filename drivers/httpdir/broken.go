//go:build linux

package main

import (
	"fmt"
	"slices"
	"strings"
)

// defect is a wrong use of the storage system by the driver.
type defect string

const (
	deleteNeedsVolume defect = "delete-needs-volume"
	errorsAreSuccess  defect = "errors-are-success"
	limitIsFinal      defect = "limit-is-final"
	resetMakesAgain   defect = "reset-makes-again"
	listsAreTrusted   defect = "lists-are-trusted"
	conflictIsFinal   defect = "conflict-is-final"
	conflictIsDeleted defect = "conflict-is-deleted"
)

// entry describes a defect.
type entry struct {
	name defect
	what string
}

var catalogue = []entry{
	{deleteNeedsVolume, "DeleteVolume fails when the storage system does not find the volume (404)"},
	{errorsAreSuccess, "a request that is answered with 500 is taken for done"},
	{limitIsFinal, "a volume for which a request came too soon (429) is refused from then on"},
	{resetMakesAgain, "CreateVolume asks for another volume when the connection is reset"},
	{listsAreTrusted, "a volume that is not in the list is taken for deleted"},
	{conflictIsFinal, "CreateVolume fails when the storage system has the volume (409)"},
	{conflictIsDeleted, "DeleteVolume succeeds when the storage system is busy with the volume (409)"},
}

type defects map[defect]bool

func parseDefects(text string) (defects, error) {
	all := defects{}
	for name := range strings.SplitSeq(text, ",") {
		if name == "" {
			continue
		}
		known := slices.ContainsFunc(catalogue, func(e entry) bool { return e.name == defect(name) })
		if !known {
			return nil, fmt.Errorf("no defect %q; there are:\n%s", name, defectsHelp())
		}
		all[defect(name)] = true
	}
	return all, nil
}

func defectsHelp() string {
	var text strings.Builder
	for _, e := range catalogue {
		fmt.Fprintf(&text, "  %-22s%s\n", e.name, e.what)
	}
	return text.String()
}
