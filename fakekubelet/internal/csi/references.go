package csi

import (
	"fmt"
	"slices"
	"strings"
)

// ReferencedError means that a staged volume is still mounted elsewhere. The error does not change
// the state of the device. K-ERR-6
type ReferencedError struct{ error }

// checkReferences rejects an unstage while another mount shows the content of the staging path,
// unless that mount is in the plugin directory itself. K-UNSTAGE-2
func (pl *Plugin) checkReferences(staging string) error {
	mounts, err := pl.machine.References(staging)
	if err != nil {
		return err
	}
	own := strings.TrimPrefix(staging, string(pl.Dir))
	references := slices.DeleteFunc(mounts, func(target string) bool { return strings.Contains(target, own) })
	if len(references) == 0 {
		return nil
	}
	return ReferencedError{fmt.Errorf("the device mount path %q is still mounted by other references %v", staging, references)}
}
