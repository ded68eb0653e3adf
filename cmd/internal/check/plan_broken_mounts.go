package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/csisim/csisim/drivers/fault"
)

// brokenMounts is the group of trials in which the mounted file system of a volume fails.
const brokenMounts = "broken-mount"

// mountedErrors are the errors that each call can get from a mounted file system. Unmounting
// succeeds with each of these errors.
var mountedErrors = []struct {
	call  string
	fails []string
}{
	{"NodePublishVolume", []string{fault.StaleHandle, fault.ReadOnly}},
	{"NodeUnpublishVolume", []string{fault.StaleHandle, fault.Broken, fault.NotConnected}},
	{"NodeUnstageVolume", []string{fault.StaleHandle, fault.Broken, fault.NotConnected}},
}

// failures returns how often a call finds the mounted file system broken before it works again.
func (e effect) failures() int {
	if e.undoes() {
		return 3
	}
	return 1
}

// failingMounts: the mounted file system of a volume fails while the driver works on a call, as if
// its server, its disk or its FUSE daemon were broken. The driver may fail the call, but must not
// assume that the file system is unmounted.
func failingMounts(p *plan) {
	needs := []string{p.needsOurs(), p.needsProgram()}
	effects := p.effects()
	for _, at := range mountedErrors {
		i := slices.IndexFunc(effects, func(e effect) bool { return e.call == at.call })
		if i < 0 {
			continue
		}
		e := effects[i]
		var parts []part
		for _, fails := range at.fails {
			name := strings.ToLower(fails)
			description := fmt.Sprintf("While the driver works on %s, the mounted file system fails with %s.", e.call, fails)
			parts = append(parts, part{name, description, func(s *script) {
				s.unmounts = true
				s.fault("name: %s, call: %s, mounted: %s, times: %d", name, e.call, fails, e.failures())
				s.lifeWith(e)
				s.step("clear-fault: %s", name)
			}})
		}
		description := fmt.Sprintf("The mounted file system of a volume fails while the driver works on %s.", e.call)
		p.tryEach(brokenMounts, e.call, description, append(slices.Clone(needs), e.missing), parts, func(s *script) {
			for _, part := range parts {
				part.compose(s)
			}
		})
	}
}
