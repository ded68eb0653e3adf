package scenario

import (
	"errors"
	"fmt"
	"strings"

	"github.com/csisim/csisim/cmd/internal/scenario/profile"
	"github.com/csisim/csisim/internal/input/strict"
)

// readProfile reads the profile that a driver names.
func (c *checker) readProfile(d *Driver) {
	if d.Profile == "" {
		if d.Binary != "" {
			c.report("binary", "a binary without a profile", "the profile that says how it is started, or program instead")
		}
		return
	}
	if d.profile = c.loadProfile("profile", d.Profile); d.profile != nil {
		c.checkSingle(d.profile)
	}
}

// loadProfile reads the profile that a field names; nil if the profile has mistakes.
func (c *checker) loadProfile(field, name string) *profile.Profile {
	read, err := profile.Load(name, c.dir)
	var problems strict.Problems
	var unknown *profile.UnknownError
	switch {
	case err == nil:
		return read
	case errors.As(err, &problems):
		c.problems = append(c.problems, problems...)
	case errors.As(err, &unknown):
		c.document.ReportUnknown(c.in(field), fmt.Sprintf("profile %q", name), name,
			"a driver profile: "+strings.Join(profile.Names(), ", ")+", or a YAML file", profile.Names())
	default:
		c.report(field, fmt.Sprintf("profile %q, which cannot be read (%v)", name, err),
			"a YAML file with a driver profile, relative to this file")
	}
	return nil
}

func (c *checker) checkSingle(p *profile.Profile) {
	if nodes := len(c.nodeNames()); p.Single && nodes != 1 {
		c.report("profile", fmt.Sprintf("profile %q with %d nodes", p.Name, nodes),
			"cluster: {nodes: 1}, since one process of this driver holds all of its state")
	}
}
